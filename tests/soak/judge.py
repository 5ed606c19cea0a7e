"""The laws of a soak: what every client, the record and the operator's typing must agree on.

`tests.support.ledger` holds the record's own laws. Here each run of a hook is held against it: one
outcome, which is a decision on record or what the hook was installed to do, and nobody's allow is
ever an allow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crabhook.broker.messages import Refusal
from crabhook.model.actor import AnsweredAtAgent
from crabhook.store.actors import end_in
from crabhook.store.record import Record, RecordKind
from tests.soak.ends import broken, ends_once, final_states, of_the_record, requests_end
from tests.soak.jobs import RULINGS, SERVER_WAIT, Job, job_of
from tests.soak.said import Printed, Said, UnreadableError, fallback, own_way, read
from tests.soak.undecided import (
    OpenCalls,
    is_left_open,
    is_ruling,
    is_unspent,
    not_delivered,
    open_as,
    ruling_counts,
    ruling_is_told,
    stays_open,
    without_rulings,
)
from tests.support.ledger import legs_of, told

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from tests.support.ledger import Ledger

SLACK = 15.0  # seconds that a hook may need beyond its limit on a machine that has better to do
AFTERWARDS = 8.0  # seconds in which a trouble that is over is still felt: TCP waits before it tries
GREETING = b": no answer in time)", b"handshake operation timed out)"
MOST_SLOW = 0.005
"""What a hook says that was not greeted within its five seconds, and the share that may say it."""
MOST_UNANSWERED, MANY = 0.25, 100  # of how many hooks on, what share may find nobody or lose them
OPERATOR, HEADLESS, SESSION_ALLOWED = "operator", "headless", "allow everything of this session"

WISHED = {
    "allow": {"allow"},
    "noted": {"allow"},
    "late": {"allow"},
    "edit": {"allow"},
    "answer": {"allow"},
    "twice": {"allow"},
    "undo": {"allow"},  # where no allow is held, none is taken back, and nothing changes it
    "deny": {"deny"},
    "alike": {"deny"},
    "ask": {"ask"},
    "pass": {"pass"},
    "keep-going": {"keep-going"},
    "decline": {"decline"},
    "cancel": {"cancel"},
    "ignore": set[str](),
    "open-allow": set[str](),
    "open-deny": set[str](),
    "edge": {"allow"},
    "ruled-allow": {"allow"},  # typed where no rule could be read
    "ruled-deny": {"deny"},
}
"""The verdicts an operator may give who has a wish."""

HELD = {"undo": {"allow", "deny"}, "twice": {"allow", "deny"}}
"""The same at a desk that holds an allow for a moment, which may be over or not."""

_PRINTED = {"keep-going": "block", "accept": "accept", "decline": "decline", "cancel": "cancel"}
_SILENT = {
    ("claude", "PermissionRequest", "ask"),
    ("codex", "PermissionRequest", "ask"),
    ("codex", "PreToolUse", "allow"),  # which approves nothing there, so it is not said
    ("gemini", "BeforeTool", "ask"),
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run of a hook went: times are monotonic; `paused` is how long it was stopped by us."""

    job: Job
    began: float
    ended: float
    printed: Printed | None
    killed: bool = False
    paused: float = 0.0

    @property
    def readable(self) -> bool:
        """Whether it printed something that an agent can read."""
        if self.printed is None or not self.printed.stdout:
            return False
        try:
            read(self.job.agent, self.printed)
        except UnreadableError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Trouble:
    """A time in which hooks may go unanswered: all of them, or those over the network.

    `unwritten`: only those turned away since the use of a yes that counts once could not be recorded.
    """

    what: str
    began: float
    ended: float
    remote_only: bool = False
    unwritten: bool = False

    def excuses(self, one: Ending) -> bool:
        """Say whether a hook met it: while it lasted, or just after."""
        if self.remote_only and not one.job.remote:
            return False
        if self.unwritten and not is_unspent(one.printed):
            return False
        return one.began <= self.ended + AFTERWARDS and self.began <= one.ended


@dataclass
class Sitting:
    """What an operator did in one life of the server, whose records begin after `after`.

    `holds`: an allow could be taken back for a moment.
    """

    after: int
    chance_keys: bool = False
    holds: bool = False
    typed: set[int] = field(default_factory=set)
    """Calls about which a decision was typed."""
    ruled: set[int] = field(default_factory=set)
    """Calls on which a ruling was typed, since their agents had gone on."""
    allowed_sessions: set[str] = field(default_factory=set)


@dataclass
class Case:
    """All there is to judge."""

    endings: Sequence[Ending]
    ledger: Ledger
    sittings: Sequence[Sitting]
    troubles: Sequence[Trouble]
    jobs: Collection[int]
    """The numbers of all that were started."""

    @property
    def begun(self) -> Collection[int]:
        """The numbers of the last records before each server."""
        return [sitting.after for sitting in self.sittings]


def one_end_each(case: Case) -> Iterator[str]:
    """Every hook that was started ends once."""
    yield from ends_once((ending.job.number for ending in case.endings), case.jobs)


def in_time(case: Case) -> Iterator[str]:
    """No hook takes longer than it was to wait."""
    for one in case.endings:
        longest, took = one.job.wait + one.paused + SLACK, one.ended - one.began
        if not one.killed and took > longest:
            yield f"job {one.job.number} took {took:.1f} s, not {longest:.0f} at most"


def printed_rightly(case: Case) -> Iterator[str]:
    """What a hook printed is what was decided about its call, or what it was installed to do."""
    decisions = Decisions(case.ledger)
    for one in case.endings:
        if one.printed is None:
            if not one.killed:
                yield f"job {one.job.number} ended without a word of how"
        elif not one.killed or one.readable:  # half an answer is all that is left of some
            yield from printed_otherwise(one.job, one.printed, decisions)


def printed_otherwise(job: Job, printed: Printed, decisions: Decisions) -> Iterator[str]:
    """Yield how what a hook printed is neither what was decided nor its own way."""
    mark = f"job {job.number} ({job.sample})"
    try:
        said = read(job.agent, printed)
    except UnreadableError as error:
        yield f"{mark} printed what cannot be read: {error}"
        return
    if not fallback(printed):
        yield from (f"{mark}: {fault}" for fault in answered(job, said, decisions))
    elif said.verdict != (due := own_way(job.agent, job.event, fail_closed=job.fail_closed)):
        yield f"{mark}: its own way is {due!r}, and it said {said.verdict!r}"


def unanswered_for_a_reason(case: Case) -> Iterator[str]:
    """A hook that nobody decided for waited to its end, or met a trouble."""
    for one in case.endings:
        if one.printed is None:
            continue
        kind = fallback(one.printed)
        if not kind and is_left_open(one.job, one.printed):
            kind = "not decided"
        if not kind:
            continue
        if (one.killed and not one.readable) or answered_there(one.job, one.printed, case.ledger):
            continue
        took = one.ended - one.began
        waited_out = took >= min(one.job.wait, SERVER_WAIT) - 1
        if not waited_out and not _slow_greeting(one) and not _excused(one, case.troubles):
            words = one.printed.stderr.decode(errors="replace").strip()
            mark = f"job {one.job.number} ({one.job.sample})"
            yield f"{mark}: {kind} after {took:.1f} s while nothing was amiss: {words}"


def answered_there(job: Job, printed: Printed, ledger: Ledger) -> bool:
    """Say whether a hook was let go since its agent told that the call was answered there."""
    return Refusal.OVER.encode() in printed.stderr and any(
        record.session == job.session and isinstance(end_in(told(record)), AnsweredAtAgent)
        for record in ledger.of(RecordKind.WITHDRAWN)
    )


def _excused(one: Ending, troubles: Sequence[Trouble]) -> bool:
    return any(trouble.excuses(one) for trouble in troubles)


def _slow_greeting(one: Ending) -> bool:
    """Say whether it gave up before the server's first word, as on a machine with too much to do."""
    return one.printed is not None and any(words in one.printed.stderr for words in GREETING)


def few_without_answer(case: Case) -> Iterator[str]:
    """However much breaks, most hooks are answered: a server that turns all away is no server."""
    endings, troubles = case.endings, case.troubles
    kinds = [fallback(one.printed) for one in endings if one.printed is not None]
    turned = sum(kind in ("unreachable", "lost") for kind in kinds)
    slow = [one for one in endings if _slow_greeting(one) and not _excused(one, troubles)]
    if len(slow) > MOST_SLOW * len(endings) + 1:
        jobs = [one.job.number for one in slow]
        yield f"jobs {jobs} were not greeted in time while nothing was amiss"
    if len(kinds) > MANY and turned > MOST_UNANSWERED * len(kinds):
        yield f"of {len(kinds)} hooks {turned} found nobody, more than {MOST_UNANSWERED:.0%}"


class Decisions:
    """What was decided, by job."""

    def __init__(self, ledger: Ledger) -> None:
        self._by_request: dict[str, Record] = {}
        self.open_calls = OpenCalls(ledger)
        for one in ledger.of(RecordKind.DECIDED):
            if not is_ruling(one):
                self._by_request |= dict.fromkeys(legs_of(one), one)
        self._requests: dict[int, str] = {}
        for one in ledger.records:
            number = job_of(one)
            if number is not None and one.request_id and one.kind != RecordKind.DECIDED:
                self._requests[number] = one.request_id
        self._at_once: dict[int, Record] = {}
        for one in ledger.of(RecordKind.DECIDED):
            number = job_of(one)
            if number is not None and one.card is None:
                self._at_once[number] = one

    def of(self, job: int) -> Record | None:
        """Return what was decided about a job; None where nothing was."""
        return self._by_request.get(self.request_of(job)) or self._at_once.get(job)

    def request_of(self, job: int) -> str:
        """Return the request of a job that was taken; empty for none."""
        return self._requests.get(job, "")


def answered(job: Job, said: Said, decisions: Decisions) -> Iterator[str]:
    """Yield how what a hook said is not what was decided about its job."""
    decision, request = decisions.of(job.number), decisions.request_of(job.number)
    if decision is None and (card := open_as(said)) is not None:
        yield from decisions.open_calls.faults(job, card, request)
        return
    if decision is None:
        if request in decisions.open_calls.requests:
            yield f"its call was left open, and it was told {said.verdict!r}"
        elif said.verdict:
            yield f"it was told {said.verdict!r}, which nobody decided"
        return
    body = told(decision)
    if said.verdict != _due(job, decision.verdict, edited="edited" in body):
        yield f"it was told {said.verdict!r}; on record is {decision.verdict!r}"
    elif said.verdict in ("deny", "block") and body.get("reason", "") not in said.reason:
        yield f"it was told {said.reason!r}; on record is {body.get('reason')!r}"
    if said.verdict == "allow":
        yield from _this_input(job, said, body)


def _due(job: Job, verdict: str, *, edited: bool) -> str:
    if verdict == "pass" or ((job.agent, job.event, verdict) in _SILENT and not edited):
        return ""
    if verdict in ("accept", "decline", "cancel", "keep-going"):
        return "deny" if job.agent == "gemini" else _PRINTED[verdict]
    if job.event in ("Stop", "AfterAgent"):
        return ""  # it was let stop
    return verdict


def _this_input(job: Job, said: Said, body: dict[str, Any]) -> Iterator[str]:
    """An allow is for the input that was asked about, and changes it as was decided."""
    if not _same(body.get("input"), job.tool_input):
        yield f"the allow on record is for {body.get('input')!r:.200}"
    edited = body.get("edited")
    if edited is not None and not _same(edited, said.changed):
        yield f"it was changed to {said.changed!r:.200}, on record to {edited!r:.200}"
    if edited is None and said.changed is not None and not _same(said.changed, job.tool_input):
        yield f"it was changed to {said.changed!r:.200}, and nobody changed it"


def _same(recorded: Any, told_of: Any) -> bool:
    """Compare what the record has with what was sent: it cuts texts that are very long."""
    if isinstance(recorded, dict) and isinstance(told_of, dict):
        return recorded.keys() == told_of.keys() and all(
            _same(recorded[key], told_of[key]) for key in recorded
        )
    if isinstance(recorded, str) and isinstance(told_of, str) and len(told_of) > 32_000:
        return recorded[:1000] == told_of[:1000]
    return bool(recorded == told_of)


def decided_by_somebody(case: Case) -> Iterator[str]:
    """Whatever is decided by a person was typed, and wished; by a rule or an order, was ruled."""
    jobs = {one.job.number: one.job for one in case.endings}
    typed = {call for sitting in case.sittings for call in sitting.typed}
    ruled = {call for sitting in case.sittings for call in sitting.ruled}
    allowed = {name for sitting in case.sittings for name in sitting.allowed_sessions}
    for record in case.ledger.of(RecordKind.DECIDED):
        job, by = jobs.get(job_of(record) or 0), told(record)["by"]
        sitting = _sitting(record, case.sittings)
        if job is None or (sitting.chance_keys and by != HEADLESS):
            continue
        if by == OPERATOR:
            fault = _not_typed(job, record, sitting, typed, ruled)
        else:
            fault = _not_ruled(job, record, by, allowed)
        if fault:
            yield f"job {job.number}: {record.verdict} by {by} (record {record.seq}) {fault}"


def _not_typed(
    job: Job, record: Record, sitting: Sitting, typed: Collection[int], ruled: Collection[int]
) -> str:
    wished = WISHED | HELD if sitting.holds else WISHED
    if job.call not in typed and job.call not in ruled:
        return "was never typed"
    meant = set(wished.get(job.wish, ()) if job.call in typed else ())
    if job.call in ruled:
        meant.add(RULINGS.get(job.wish, "deny"))
    if record.verdict not in meant:
        return f"was not what was typed ({job.wish})"
    others = _words(record) - {job.word}
    return f"has the words of others: {others}" if others else ""


def _not_ruled(job: Job, record: Record, by: str, allowed: Collection[str]) -> str:
    if record.verdict != "allow":
        return ""
    ruled = by.startswith("rule ") and job.wish == "ruled-allow"
    ordered = by == SESSION_ALLOWED and job.session in allowed
    return "" if ruled or ordered else "is nobody's to give"


def _words(record: Record) -> set[str]:
    body = told(record)
    note = without_rulings(body.get("note", ""))
    return set(re.findall(r"word-\d+-", f"{body.get('reason')} {note}"))


def _sitting(record: Record, sittings: Sequence[Sitting]) -> Sitting:
    """Return who sat at the desk when something was recorded."""
    return [one for one in sittings if one.after < record.seq][-1]


def deliveries(case: Case) -> Iterator[str]:
    """What is called delivered somebody has; what an operator decided has a fate, and one only."""
    fates = case.ledger.fates()
    endings = {one.job.number: one for one in case.endings}
    for record in case.ledger.of(RecordKind.DELIVERED):
        one = endings.get(job_of(record) or 0)
        unanswered = one is None or one.printed is None or fallback(one.printed)
        if told(record)["whole"] and unanswered:
            yield f"record {record.seq}: delivered, it says, and job {record.cwd} has no answer"
    for request, fate in fates.items():
        if fate.count(True) > 1 or fate.count(False) > 1:
            yield f"request {request}: its delivery was told more than once: {fate}"
    for record in case.ledger.of(RecordKind.DECIDED):
        legs = legs_of(record)
        if record.card is None or is_ruling(record):
            continue
        if told(record)["by"] == OPERATOR:
            yield from (
                f"{leg}: nothing says if it was delivered" for leg in legs if leg not in fates
            )
    yield from not_delivered(case.ledger)


LAWS = (
    of_the_record,
    one_end_each,
    final_states,
    requests_end,
    in_time,
    printed_rightly,
    unanswered_for_a_reason,
    few_without_answer,
    decided_by_somebody,
    deliveries,
    stays_open,
    ruling_counts,
    ruling_is_told,
)
"""All laws of a soak; `tests/unit/soak` plants a violation of each."""


def broken_laws(case: Case) -> list[str]:
    """Return every way in which a law is broken, in words."""
    return broken(LAWS, case)
