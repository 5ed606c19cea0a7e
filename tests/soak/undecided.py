"""The laws of a call that nobody decided in time: its hook ends, and its card stays open.

The hook's agent reads that its call is open as #12, and goes on. What a person rules later is about
the next call that is the very same; a note tells the model. Nothing of it reaches the hook that ended.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Protocol

from crabhook.broker.messages import Refusal
from crabhook.store.record import Record, RecordKind
from tests.soak.jobs import Job, job_of
from tests.soak.said import UnreadableError, fallback, read
from tests.support.ledger import legs_of, told

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tests.soak.ends import Recorded
    from tests.soak.said import Printed, Said
    from tests.support.ledger import Ledger

_OPEN = re.compile(r"Not decided: nobody answered in time\. The call is open as #(\d+),")
_RULED = re.compile(r"#(\d+), a call of yours that nobody had decided in time, is (\w+) now")
_DONE = {"allow": "allowed", "deny": "denied"}
_RETOLD = ("did not arrive", "not known")
"""What is recorded of a note that may be told once more."""
CARRIES = ("PostToolUse",)
"""The events with which every note of Claude's reaches the model."""


class Ended(Protocol):
    """How a run of a hook went."""

    @property
    def job(self) -> Job:
        """What was run."""

    @property
    def printed(self) -> Printed | None:
        """What it printed."""

    @property
    def killed(self) -> bool:
        """Whether it was killed."""


class Judged(Protocol):
    """A case that has a record, hooks, and sittings at a desk, each after a record."""

    @property
    def ledger(self) -> Ledger:
        """The record, read once."""

    @property
    def endings(self) -> Sequence[Ended]:
        """How each hook ended."""

    @property
    def begun(self) -> Collection[int]:
        """The numbers of the last records before each server."""


def is_ruling(record: Record) -> bool:
    """Say whether a decision is about the next such call, since its own agent had gone on."""
    return record.kind == RecordKind.DECIDED and "went_on" in told(record)


def open_as(said: Said) -> int | None:
    """Return the card on which a call is open, by what its agent was told; None for another word."""
    number = _OPEN.match(said.reason) if said.verdict == "deny" else None
    return int(number[1]) if number else None


def without_rulings(note: str) -> str:
    """Return a note without its lines about rulings, which may be on other calls of the session."""
    return "\n".join(line for line in note.split("\n") if not _RULED.search(line))


def is_left_open(job: Job, printed: Printed) -> bool:
    """Say whether a hook told its agent that nobody decided in time."""
    try:
        return open_as(read(job.agent, printed)) is not None
    except UnreadableError:
        return False


def is_unspent(printed: Printed | None) -> bool:
    """Say whether a hook was turned away since the use of a yes could not be recorded."""
    return printed is not None and Refusal.UNSPENT.encode() in printed.stderr


class OpenCalls:
    """What the record says of calls that were left open, by request."""

    def __init__(self, ledger: Ledger) -> None:
        self.requests: dict[str, Record] = {}
        self._cards: dict[int, Record] = {}
        self._others: dict[str, Record] = {}
        for one in ledger.records:
            if one.card is None:
                continue
            if one.kind == RecordKind.UNDECIDED:
                self.requests[one.request_id] = self._cards[one.card] = one
            elif one.kind in (RecordKind.LEFT, RecordKind.EXPIRED):
                self._others |= dict.fromkeys(legs_of(one), one)

    def faults(self, job: Job, card: int, request: str) -> Iterator[str]:
        """Yield why a hook ought not to have said that its call is open on that card."""
        own = self.requests.get(request) or self._others.get(request)
        stays = self._cards.get(card)
        if not job.fail_closed:
            yield f"it is to let calls pass, and said that its own is open as #{card}"
        elif stays is None or own is None:
            yield f"it said that its call is open as #{card}, which is not on record"
        elif own.card != card and not _same_call(own, stays):
            yield f"it said that its call is open as #{card}, which is another call"


def _same_call(one: Record, other: Record) -> bool:
    return _call(one) == _call(other)


def _call(record: Record) -> tuple[str, ...]:
    return record.platform, record.session, record.agent_id, record.cwd, record.tool


def stays_open(case: Recorded) -> Iterator[str]:
    """A card stays open for one call until it is ruled on, ends, or is asked about again."""
    left: dict[int, Record] = {}
    for one in case.ledger.records:
        if one.card is None or one.kind not in _OF_A_CARD:
            continue
        if fault := _against(one, left.pop(one.card, None)):
            yield f"card {one.card} (record {one.seq}) {fault}"
        if one.kind == RecordKind.UNDECIDED:
            left[one.card] = one
    yield from (f"card {card} is counted, and waits no more" for card in case.ledger.miscounted)


_OF_A_CARD = (
    *(RecordKind.ASKED, RecordKind.UNDECIDED, RecordKind.DECIDED),
    *(RecordKind.EXPIRED, RecordKind.WITHDRAWN),
)
"""The kinds of records that begin or end the time in which a card is open without its agent."""


def _against(record: Record, left: Record | None) -> str:
    """Return how a record of a card contradicts that it was left open, or was not (None)."""
    if left is None:
        return "was ruled on, and its agent had not gone on" if is_ruling(record) else ""
    match record.kind:
        case RecordKind.UNDECIDED:
            return "was left open, and was open already"
        case RecordKind.ASKED if not _same_call(record, left):
            return "stands open for another call"
        case RecordKind.DECIDED if not is_ruling(record):
            return "was decided, and its agent had gone on"
    return ""


def ruling_counts(case: Judged) -> Iterator[str]:
    """A yes lets the very same call run once, a no denies it, until the next ruling or release.

    A use that could not be recorded is none: its hook was turned away, and the yes stands.
    """
    away = {one.job.number for one in case.endings if is_unspent(one.printed)}
    jobs = {one.job.number: one.job for one in case.endings}
    stands: dict[int, tuple[str, int]] = {}
    for one in case.ledger.records:
        if one.kind == RecordKind.OPERATOR and "order" in told(one):
            stands.clear()  # an operator ended orders
        job = jobs.get(job_of(one) or 0)
        if job is None:
            continue
        verdict, since = stands.get(job.call, ("", 0))
        mark = f"job {job.number} (record {one.seq})"
        if is_ruling(one):
            stands[job.call] = one.verdict, one.seq
        elif _follows_a_ruling(one, job):
            if job.number in away:
                yield f"{mark} is decided by a ruling, and was told that the ruling still stands"
            elif verdict != one.verdict:
                yield f"{mark} was told {one.verdict!r} by a ruling; what stands is {verdict!r}"
            if one.verdict == "allow":
                stands.pop(job.call, None)
        elif one.kind == RecordKind.ASKED and verdict and not _server_since(since, one, case.begun):
            yield f"{mark} was asked about, and record {since} rules on it ({verdict})"


def _follows_a_ruling(record: Record, job: Job) -> bool:
    """Say whether a call was decided without a card, as a person had ruled on it before."""
    if record.kind != RecordKind.DECIDED or record.card is not None or job.event != "PreToolUse":
        return False  # a PermissionRequest is decided as its PreToolUse was
    return bool(told(record)["actor"]["kind"] == "operator")


def _server_since(before: int, record: Record, begun: Collection[int]) -> bool:
    """Say whether a server began between two records: its clock may have ended what stood."""
    return any(before <= last < record.seq for last in begun)


def ruling_is_told(case: Judged) -> Iterator[str]:
    """A ruling's note says what was ruled, in its own session, once, and with the next such event."""
    rulings = {one.card: one for one in case.ledger.records if is_ruling(one)}
    trail = _notes(case.ledger)
    heard = defaultdict[int, list[Job]](list)
    for one in case.endings:
        if one.printed is None or one.killed:
            continue
        for card, done in _RULED.findall(one.printed.stdout.decode("utf-8", "replace")):
            heard[int(card)].append(one.job)
            yield from _told_rightly(one.job, rulings.get(int(card)), card, done)
    for card, jobs in heard.items():
        again = sum(any(words in what for words in _RETOLD) for _, what in trail.get(card, ()))
        if len(jobs) > 1 + again:
            numbers = [job.number for job in jobs]
            yield f"the ruling on card {card} was told to jobs {numbers}, once too often"
    yield from _reached(case, trail, heard)


def _told_rightly(job: Job, ruling: Record | None, card: str, done: str) -> Iterator[str]:
    if ruling is None or _DONE.get(ruling.verdict) != done:
        yield f"job {job.number} was told that card {card} is {done}, which nobody ruled"
    elif ruling.session != job.session:
        yield f"job {job.number} was told of card {card}, which is of another session"


def _notes(ledger: Ledger) -> Mapping[int, list[tuple[Record, str]]]:
    """Return, by card, what became of the note about its ruling."""
    trail = defaultdict[int, list[tuple[Record, str]]](list)
    for one in ledger.of(RecordKind.OPERATOR):
        body = told(one)
        ruled = _RULED.match(body.get("note", {}).get("text", ""))
        if ruled:
            trail[int(ruled[1])].append((one, body["what"]))
    return trail


def _reached(
    case: Judged,
    trail: Mapping[int, list[tuple[Record, str]]],
    heard: Mapping[int, list[Job]],
) -> Iterator[str]:
    """Yield the notes that nobody has though it was said so, or though there was an event for them."""
    printed = {
        one.job.number
        for one in case.endings
        if one.printed is not None and not one.killed and not fallback(one.printed)
    }
    events = [
        one
        for one in case.ledger.of(RecordKind.EVENT)
        if told(one)["event"] in CARRIES and job_of(one) in printed
    ]
    for card, news in trail.items():
        fates = Counter(what.partition(":")[0].rpartition(" was ")[2][:9] for _, what in news)
        if fates["delivered"] > 1:
            yield f"the note about card {card} was delivered {fates['delivered']} times"
        if fates["delivered"] and not heard.get(card) and _job_at(news) in printed:
            yield f"the note about card {card} was delivered, it says, and no hook has it"
        last, what = news[-1]
        if "waits for its next call" in what or "was taken up" in what:
            yield from (
                f"the note about card {card} waits still, and job {job_of(one)} was answered since"
                for one in events
                if one.seq > last.seq and (one.session, one.agent_id) == _whose(last)
            )


def _job_at(news: Sequence[tuple[Record, str]]) -> int | None:
    return next((job_of(one) for one, what in news if "was delivered" in what), None)


def _whose(note: Record) -> tuple[str, str]:
    return note.session, told(note)["note"]["agent"]


def not_delivered(ledger: Ledger) -> Iterator[str]:
    """Yield the rulings that are called delivered: nobody is there to have them."""
    fates = ledger.fates()
    for one in ledger.records:
        if is_ruling(one):
            yield from (
                f"{leg}: a ruling on card {one.card} is called delivered, and its hook had ended"
                for leg in legs_of(one)
                if True in fates.get(leg, ())
            )
