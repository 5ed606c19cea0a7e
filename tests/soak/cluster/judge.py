"""The laws of a cluster: what hooks, desks, watchers and the record must agree on, whoever led."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from crabhook.hook.fallback import KINDS
from crabhook.store.record import RecordKind
from tests.soak.ends import (
    ENDS,
    broken,
    ends_once,
    final_states,
    of_the_record,
    requests_end,
)
from tests.soak.jobs import job_of
from tests.soak.judge import Decisions, answered_there, printed_otherwise
from tests.soak.said import UnreadableError, fallback, read
from tests.support.ledger import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crabhook.store.record import Record
    from tests.soak.cluster.history import Heard, Histories, HookEnd

AFTERWARDS = 8.0  # seconds in which a fault that is over is still felt
MOST_UNANSWERED, MANY = 0.5, 50  # of how many hooks on, what share may find nobody
GAPS_A_FAULT = 2  # at one server: it leads, and stands by again; one more for the first leader
OPENED = "waiting"
NEITHER = tuple(KINDS[kind][0] for kind in ("options", "input", "fault"))
"""What a hook says that could not even ask."""


def one_end_each(seen: Histories) -> Iterator[str]:
    """Every hook that was started ends once."""
    yield from ends_once((one.job.number for one in seen.hooks), seen.asked)


def one_reply_each(seen: Histories) -> Iterator[str]:
    """At most one reply a request, over all attempts and whoever gave it."""
    for one in seen.hooks:
        if len({what for _, what in one.replies}) > 1:
            yield f"job {one.job.number} was given more than one reply: {list(one.replies)}"


def printed_rightly(seen: Histories) -> Iterator[str]:
    """What a hook printed is what was decided about its call, or what it was installed to do."""
    decisions = Decisions(seen.ledger)
    for one in seen.hooks:
        yield from printed_otherwise(one.job, one.printed, decisions)


def on_record_before(seen: Histories) -> Iterator[str]:
    """Every allow that was printed was on record before."""
    decisions = Decisions(seen.ledger)
    for one, record in _allows(seen, decisions):
        if record is None:
            yield f"job {one.job.number} printed an allow that is not on record"
        elif (committed := seen.committed[record.seq]) > one.at:
            late = committed - one.at
            yield f"job {one.job.number} printed its allow {late:.3f} s before record {record.seq}"


def _allows(seen: Histories, decisions: Decisions) -> Iterator[tuple[HookEnd, Record | None]]:
    for one in seen.hooks:
        try:
            said = read(one.job.agent, one.printed)
        except UnreadableError:
            continue
        if said.verdict in ("allow", "accept"):
            yield one, decisions.of(one.job.number)


def not_in_vain(seen: Histories) -> Iterator[str]:
    """Nothing that waited is lost: who finds nobody found nobody from the beginning, for a reason."""
    kinds = Counter(fallback(one.printed) for one in seen.hooks)
    for one in seen.hooks:
        kind, words = fallback(one.printed), one.printed.stderr.decode(errors="replace").strip()
        if kind == "unreachable":
            if not any(
                one.began <= trouble.ended + AFTERWARDS and trouble.began <= one.ended
                for trouble in seen.troubles
            ):
                yield f"job {one.job.number} found nobody while nothing was amiss: {words}"
        elif kind and not answered_there(one.job, one.printed, seen.ledger):
            after = one.ended - one.began
            yield f"job {one.job.number} waited {after:.1f} s, and was lost: {kind}: {words}"
        elif not kind and any(said in words for said in NEITHER):
            yield f"job {one.job.number} neither asked nor found that nobody answers: {words}"
    many, nobody = kinds.total(), kinds["unreachable"]
    if many > MANY and nobody > MOST_UNANSWERED * many:
        yield f"of {many} hooks {nobody} found nobody, more than {MOST_UNANSWERED:.0%}"


def allowed_by_somebody(seen: Histories) -> Iterator[str]:
    """No allow from silence: a rule speaks of the call, or a person gave one, and before."""
    jobs = {one.job.number: one.job for one in seen.hooks}
    first: dict[tuple[object, str, str], float] = {}
    for given in seen.given.values():
        call = jobs[given.job].call if given.job in jobs else None
        # A hook of a call that was decided a moment ago has the same decision, on no card.
        for about in (given.card, f"call {call}"):
            key = (about, given.by, given.verdict)
            first[key] = min(given.at, first.get(key, given.at))
    for record in seen.ledger.of(RecordKind.DECIDED):
        number, actor = job_of(record), told(record).get("actor", {})
        job, kind = jobs.get(number or 0), actor.get("kind")
        if job is None:
            continue
        ruled = kind == "rule" and job.wish in ("ruled-allow", "ruled-deny")
        if kind == "operator":
            about = record.card or f"call {job.call}"
            at = first.get((about, actor.get("name"), record.verdict))
            if at is None or at > seen.committed[record.seq]:
                who = f"{record.verdict} by {actor.get('name')} (record {record.seq})"
                when = "" if at is None else f", but {at - seen.committed[record.seq]:.3f} s later"
                yield f"job {number}: {who} was given at no desk by then{when}"
        elif record.verdict == "allow" and not ruled:
            yield f"job {number}: allow by {kind} (record {record.seq}) is nobody's to give"


def once(seen: Histories) -> Iterator[str]:
    """What a desk was told is done is on record, as that person gave it."""
    on_record = {
        (record.card, told(record).get("actor", {}).get("name"), record.verdict)
        for record in seen.ledger.of(RecordKind.DECIDED)
    }
    for one in seen.given.values():
        if one.outcome == "Done" and (one.card, one.by, one.verdict) not in on_record:
            yield f"card {one.card}: {one.by} was told that {one.verdict} is done; it is not on record"


# Watchers.


def _events(records: Sequence[Record]) -> dict[tuple[int, str], int]:
    """Return the place of each card's beginning and end in the row of them all."""
    found: dict[tuple[int, str], int] = {}
    for record in records:
        if record.card is None:
            continue
        if record.kind == RecordKind.ASKED:
            found.setdefault((record.card, OPENED), len(found))
        elif record.kind in ENDS:
            found.setdefault((record.card, str(record.kind)), len(found))
    return found


def watched(seen: Histories) -> Iterator[str]:
    """Every watcher's log is a gapless part of the record, from each snapshot on."""
    places = _events(seen.ledger.records)
    for server, log in groupby(sorted(seen.heard, key=lambda one: one.server), _server_of):
        heard = _Log(places)
        for one in log:
            yield from (f"the watcher of {server}: {fault}" for fault in heard.faults(one))


def lost_places(heard: Sequence[Heard]) -> Counter[str]:
    """Return how often the watcher of each server was told of a gap."""
    return Counter(one.server for one in heard if one.news == "gap")


def few_gaps(seen: Histories) -> Iterator[str]:
    """A watcher is told of a gap where a server's part changes, and faults alone change that."""
    most = 1 + GAPS_A_FAULT * len(seen.troubles)
    for server, many in sorted(lost_places(seen.heard).items()):
        if many > most:
            yield f"the watcher of {server} was told of {many} gaps, more than {most}"


def _server_of(one: Heard) -> str:
    return one.server


class _Log:
    """What a watcher of one server knows of the cards, as it hears of them."""

    def __init__(self, places: dict[tuple[int, str], int]) -> None:
        self._places = places
        self._states: dict[int, set[str]] = defaultdict(set)
        self._begun = False
        self._last: int | None = None
        self._number = 0

    def faults(self, one: Heard) -> Iterator[str]:
        """Hear a piece of news; yield what of it cannot be."""
        if one.news == "gap" or (one.news == "hello" and not one.resumed):
            self.__init__(self._places)  # type: ignore[misc]  # it knows nothing any more
        elif one.news == "hello":
            self._number = 0
        elif self._begun and one.seq and one.seq < self._number + (one.news != "bookmark"):
            yield f"news {one.seq} came after {self._number}"
        self._number = one.seq or self._number
        self._begun = self._begun or one.news == "snapshot_end"
        if one.news == "card" and one.state not in self._states[one.card]:
            self._states[one.card] |= {one.state, OPENED}  # what ended does not begin later
            if self._begun:
                yield from self._in_its_place(one)

    def _in_its_place(self, one: Heard) -> Iterator[str]:
        last, place = self._last, self._places.get((one.card, one.state))
        if place is None:
            yield f"card {one.card} was {one.state}, which is not on record"
            return
        if last is not None and place != last + 1:
            missing = [key for key, at in self._places.items() if last < at < place]
            what = f"missing {missing[:5]}" if missing else "out of order"
            yield f"card {one.card} was {one.state} at {place}, after {last}: {what}"
        self._last = place


def tailed(seen: Histories) -> Iterator[str]:
    """What a reader of the record saw come is there still, in one row without a gap."""
    hashes = {record.seq: record.hash.hex() for record in seen.ledger.records}
    for before, after in pairwise(seen.tail):
        if after[0] != before[0] + 1:
            yield f"record {after[0]} was seen to come after record {before[0]}"
    for seq, digest in seen.tail:
        if hashes.get(seq) != digest:
            yield f"record {seq} was seen, and is {'another' if seq in hashes else 'gone'} now"


def at_the_leader(seen: Histories) -> Iterator[str]:
    """Ten seconds after the last fault every hook has ended, or waits at the leader."""
    for one in seen.stragglers:
        if not one.taken or one.at != seen.leader:
            where = f"waits at {one.at or 'nobody'}" if one.taken else "was taken by nobody"
            yield f"job {one.job} {where} after the last fault; the leader is {seen.leader}"


LAWS = (
    of_the_record,
    final_states,
    requests_end,
    one_end_each,
    one_reply_each,
    printed_rightly,
    on_record_before,
    not_in_vain,
    allowed_by_somebody,
    once,
    watched,
    few_gaps,
    tailed,
    at_the_leader,
)
"""All laws of a cluster; `tests/unit/soak` plants a violation of each."""


def broken_laws(seen: Histories) -> list[str]:
    """Return every way in which a law is broken, in words."""
    return broken(LAWS, seen)
