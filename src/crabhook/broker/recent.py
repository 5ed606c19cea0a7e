"""Recent events and decisions, as far as later events of the same call need them.

Two things follow a decided call. When Claude Code asks about a decided PreToolUse again through
PermissionRequest, the operator is not asked twice; nor after a timeout of the first. Qwen Code
sends the two the other way round. And where the answered leg could not give the operator's note to
the model, the call's result carries the note.

An agent tells each of its hooks of the end of a turn, at once and in the same words. The second
message is a duplicate: it ends no card, and gets the same order as the first.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Generic, Protocol, TypeVar

from crabhook.broker.cards import asks_about, named, over, result_of, same_call
from crabhook.datatypes import Bounded
from crabhook.model.actor import Ended
from crabhook.model.card import Request, Stance
from crabhook.model.decision import Decided, Verdict, no_opinion
from crabhook.model.event import EndScope, Event
from crabhook.model.jsontext import canonical

KEPT = 4096  # entries, the oldest forgotten first


class RecentEntry(Protocol):
    """An entry: the event, without its payload, and the time of its arrival."""

    @property
    def event(self) -> Event:
        """The event."""

    @property
    def at(self) -> float:
        """The time of its arrival, on the broker's clock."""


_Entry = TypeVar("_Entry", bound=RecentEntry)


class Memory(Generic[_Entry]):
    """Entries in the order of their arrival, each kept for a time (seconds).

    Entries are found by session and by call id, so that a long session with many calls without a
    result stays fast.
    """

    def __init__(self, kept_for: float) -> None:
        self._kept_for = kept_for
        self._sessions: dict[tuple[str, str, str], dict[int, _Entry]] = {}
        self._uses: dict[tuple[str, str, str, str], dict[int, _Entry]] = {}
        self._order: OrderedDict[int, tuple[tuple[str, str, str], str, float]] = OrderedDict()
        self._next = 0

    def __len__(self) -> int:
        return len(self._order)

    def of_session(self, event: Event) -> tuple[tuple[int, _Entry], ...]:
        """Return the entries of the event's session, the oldest first."""
        return tuple(self._sessions.get(event.session_key, {}).items())

    def of_use(self, event: Event, use_id: str) -> tuple[tuple[int, _Entry], ...]:
        """Return the entries of the session with this call id, the oldest first."""
        return tuple(self._uses.get((*event.session_key, use_id), {}).items())

    def keep(self, entry: _Entry, use_id: str = "") -> None:
        """Keep an entry, by its call's id too if there is one; the oldest entry may go."""
        self._next += 1
        session = entry.event.session_key
        self._order[self._next] = (session, use_id, entry.at)
        self._sessions.setdefault(session, {})[self._next] = entry
        if use_id:
            self._uses.setdefault((*session, use_id), {})[self._next] = entry
        while len(self._order) > KEPT or self._oldest() < entry.at - self._kept_for:
            self.drop(next(iter(self._order)))

    def drop(self, key: int) -> None:
        """Forget an entry."""
        session, use_id, _ = self._order.pop(key)
        del self._sessions[session][key]
        if not self._sessions[session]:
            del self._sessions[session]
        if use_id:
            del self._uses[*session, use_id][key]
            if not self._uses[*session, use_id]:
                del self._uses[*session, use_id]

    def _oldest(self) -> float:
        _, _, at = next(iter(self._order.values()))
        return at


ASKED_AGAIN_WITHIN = 60.0  # seconds; a PermissionRequest follows its PreToolUse at once
NOTE_KEPT = 86_400.0  # seconds; a note waits as long as its tool may run


@dataclass(slots=True, eq=False)
class _Settled:
    """An event and its decision; None where the hook left before a decision.

    `heard_by`: the names of the events that had the decision. Each kind of event has it once, since
    a hook and a proxy may ask about one call after the hook before the call.
    """

    event: Event
    decided: Decided | None
    at: float
    heard_by: set[str] = field(default_factory=set)

    def heard(self, event: Event) -> None:
        """Note that an event had the decision; the first with an id says which call it is about."""
        self.heard_by.add(event.name)
        tool = self.event.tool
        if tool is not None and event.tool is not None and not tool.use_id and event.tool.use_id:
            named_call = replace(tool, use_id=event.tool.use_id)
            self.event = replace(self.event, tool=named_call)

    def asked_about(self, later: Event) -> bool:
        if later.tool is not None and later.tool.shared is not None:
            passed = self.decided is None or self.decided.decision.verdict is Verdict.PASS
            return passed and asks_about(later, self.event)
        return same_call(self.event, later) or any(same_call(e, later) for e in self._changed())

    def led_to(self, result: Event) -> bool:
        return result_of(self.event, result) or any(result_of(e, result) for e in self._changed())

    def _changed(self) -> list[Event]:
        if self.decided is None or self.decided.decision.updated_input is None:
            return []
        return [self.event.slim(dict(self.decided.decision.updated_input))]


class RecentDecisions:
    """The memory of recently decided calls; bounded in number and in time."""

    def __init__(self) -> None:
        self._answers: Memory[_Settled] = Memory(ASKED_AGAIN_WITHIN)
        self._notes: Memory[_Settled] = Memory(NOTE_KEPT)

    def __repr__(self) -> str:
        return f"<RecentDecisions answers={len(self._answers)} notes={len(self._notes)}>"

    def remember_answer(
        self, event: Event, decided: Decided | None, now: float, beside: Iterable[Event] = ()
    ) -> None:
        """Keep a decision on a call's first event, for other events of it that may follow.

        `beside`: the events that had it too. None records that nobody decided. It is no answer, but
        a reason not to give this call the answer of another call that looks the same.
        """
        for key, kept in self._answers.of_session(event):
            if named(kept.event) and named(event) and same_call(kept.event, event):
                self._answers.drop(key)
        entry = _Settled(_bare(event), decided, now)
        for other in (event, *beside):
            entry.heard(other)
        self._answers.keep(entry)

    def unremember(self, event: Event) -> None:
        """Forget the decision that was kept on this very event."""
        bare = _bare(event)
        for key, kept in self._answers.of_session(event):
            if kept.event == bare:
                self._answers.drop(key)

    def remember_note(self, event: Event, decided: Decided, now: float) -> None:
        """Keep a note that the answered leg could not carry, for the call's result."""
        self._notes.keep(_Settled(_bare(event), decided, now))

    def speaks_of(self, event: Event, now: float) -> bool:
        """Whether a call that may be the call of `event` was here a moment ago."""
        return bool(self._about(event, now))

    def answer_again(self, event: Event, now: float, *, alone: bool = True) -> Decided | None:
        """Return the decision about the call that `event` asks about again, once a kind of event.

        For several calls that look alike and were decided differently, the answer is no opinion if
        one of them had no opinion, else None. Also None where `event` is not `alone`, since another
        call that looks the same still waits: a person settles a doubt, never an allow.
        """
        entries = self._about(event, now)
        decisions = [entry.decided for entry in entries]
        alike = all(other == decisions[0] for other in decisions)
        left = any(map(_leaves, decisions))
        if not entries or not (left or (alike and alone)):
            return None
        if alike and alone:  # all decisions are the same, so any of them fits
            entries[0].heard(event)
        return no_opinion(Ended.LEFT_BEFORE) if left else decisions[0]

    def _about(self, event: Event, now: float) -> list[_Settled]:
        """Return the entries that `event` may ask about again, the oldest first."""
        return [
            entry
            for _, entry in self._answers.of_session(event)
            if now - entry.at <= ASKED_AGAIN_WITHIN
            and event.name not in entry.heard_by
            and entry.asked_about(event)
        ]

    def take_note(self, event: Event, now: float) -> str:
        """Return the note for the call whose result `event` is, once."""
        for key, entry in self._notes.of_session(event):
            if now - entry.at <= NOTE_KEPT and entry.led_to(event):
                self._notes.drop(key)
                return entry.decided.decision.note if entry.decided else ""
        return ""

    def forget(self, news: Event, closes: EndScope) -> None:
        """Forget what the end of a call, a turn or a session leaves unused."""
        closes = EndScope.CALL if closes is EndScope.RESULT else closes
        _drop(self._answers, news, closes)
        if closes is EndScope.SESSION:
            _drop(self._notes, news, closes)


def _drop(kept: Memory[_Settled], news: Event, closes: EndScope) -> None:
    for key, entry in kept.of_session(news):
        if over(entry.event, news, closes):
            kept.drop(key)


def _bare(event: Event) -> Event:
    """Return the event with its call's whole input, and without the rest of the payload."""
    return event.slim(event.tool.input if event.tool else None)


def _leaves(decided: Decided | None) -> bool:
    """Whether a decision leaves the call to the agent's own user."""
    return decided is not None and decided.decision.verdict in (Verdict.ASK, Verdict.PASS)


TOGETHER_WITHIN = 30.0  # seconds; an agent starts its hooks at the same moment
_AGENTS_KEPT = 4096


@dataclass(slots=True)
class DuplicateEvent:
    """An event, the stances of the hooks that sent it, and an order's decision about it, if any."""

    fingerprint: bytes = b""
    at: float = 0.0
    stances: set[Stance] = field(default_factory=set)
    ordered: Decided | None = None

    @property
    def is_repeat(self) -> bool:
        """Whether another hook sent this event before."""
        return len(self.stances) > 1


class Deduplicator:
    """The last end of a turn of each agent, to find the second message about it."""

    def __init__(self) -> None:
        self._last: Bounded[tuple[str, str, str, str], DuplicateEvent] = Bounded(_AGENTS_KEPT)

    def __repr__(self) -> str:
        return f"<Deduplicator of {len(self._last)} agents>"

    def add(self, request: Request, now: float) -> DuplicateEvent:
        """Add an event that ends a turn; return it with the earlier duplicate, if there is one.

        A hook sends an event once, so the same words under the same stance are another event.
        """
        event = request.event
        words = canonical({"name": event.name, **event.fields})
        agent, fingerprint = event.agent_key, sha256(words.encode()).digest()
        last = self._last.get(agent)
        if (
            last is not None
            and last.fingerprint == fingerprint
            and now - last.at <= TOGETHER_WITHIN
            and request.stance not in last.stances
        ):
            last.stances.add(request.stance)
            self._last[agent] = last
            return last
        self._last[agent] = heard = DuplicateEvent(fingerprint, now, {request.stance})
        return heard
