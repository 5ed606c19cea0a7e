"""What was just decided, and the later events of the same calls that it still has to reach.

Two things follow a decided call.  When its PreToolUse was decided and Claude
Code asks again through PermissionRequest, the operator is not asked twice; nor
when it was left undecided until its time had passed.  And when the leg that
was answered could not carry the operator's note to the model, the note goes
with the call's result.
"""

from dataclasses import dataclass

from crabhook.broker.calls import named, over, result_of, same_call
from crabhook.broker.memory import Memory
from crabhook.model.decision import Decided, Verdict, no_opinion
from crabhook.model.ending import Ended
from crabhook.model.event import Event, Scope

ASKED_AGAIN_WITHIN = 60.0  # seconds; a PermissionRequest follows its PreToolUse at once
NOTE_KEPT = 86_400.0  # seconds; a note waits as long as its tool may run


@dataclass(frozen=True, slots=True)
class _Settled:
    """An event and what was decided about it; None for one whose hook left before anything was.

    It has a call's whole input, so none is kept past its use.
    """

    event: Event
    decided: Decided | None
    at: float

    def asked_about(self, later: Event) -> bool:
        return same_call(self.event, later) or any(same_call(e, later) for e in self._changed())

    def led_to(self, result: Event) -> bool:
        return result_of(self.event, result) or any(result_of(e, result) for e in self._changed())

    def _changed(self) -> list[Event]:
        if self.decided is None or self.decided.decision.updated_input is None:
            return []
        return [self.event.slim(dict(self.decided.decision.updated_input))]


class SettledCalls:
    """The memory of calls decided a moment ago; bounded in number and in time."""

    def __init__(self) -> None:
        self._answers: Memory[_Settled] = Memory(ASKED_AGAIN_WITHIN)
        self._notes: Memory[_Settled] = Memory(NOTE_KEPT)

    def __repr__(self) -> str:
        return f"<SettledCalls answers={len(self._answers)} notes={len(self._notes)}>"

    def remember_answer(self, event: Event, decided: Decided | None, now: float) -> None:
        """Keep a decision on PreToolUse, for the PermissionRequest that may follow.

        None keeps that nobody decided: not worth an answer, but a reason not
        to give this call the answer of another that looks the same.
        """
        for key, kept in self._answers.of_session(event):
            if _same_named(kept.event, event):
                self._answers.drop(key)
        self._answers.keep(_Settled(_bare(event), decided, now))

    def remember_note(self, event: Event, decided: Decided, now: float) -> None:
        """Keep a note that the answered leg could not carry, for the call's result."""
        self._notes.keep(_Settled(_bare(event), decided, now))

    def speaks_of(self, event: Event, now: float) -> bool:
        """Whether a call that may be the one `event` asks about was here a moment ago."""
        return bool(self._about(event, now))

    def answer_again(self, event: Event, now: float, *, alone: bool = True) -> Decided | None:
        """Return what was decided about the call `event` asks about again, once.

        Of several calls that look alike and were decided differently, one with
        no opinion leaves all without; else None, as when `event` is not
        `alone` because another that looks the same still waits: a doubt is
        settled by a person, never by an allow.
        """
        found = self._about(event, now)
        decisions = list(found.values())
        alike = all(other == decisions[0] for other in decisions)
        left = any(map(_leaves, decisions))
        if not found or not (left or (alike and alone)):
            return None
        if alike and alone:  # then it does not matter which of them it was
            self._answers.drop(next(iter(found)))
        return no_opinion(Ended.LEFT_BEFORE) if left else decisions[0]

    def _about(self, event: Event, now: float) -> dict[int, Decided | None]:
        """Return the decisions `event` may be asking about again, the oldest first."""
        return {
            key: entry.decided
            for key, entry in self._answers.of_session(event)
            if now - entry.at <= ASKED_AGAIN_WITHIN
            and entry.event.name != event.name
            and entry.asked_about(event)
        }

    def take_note(self, event: Event, now: float) -> str:
        """Return the note that belongs to the call whose result `event` is, once."""
        for key, entry in self._notes.of_session(event):
            if now - entry.at <= NOTE_KEPT and entry.led_to(event):
                self._notes.drop(key)
                return entry.decided.decision.note if entry.decided else ""
        return ""

    def forget(self, news: Event, closes: Scope) -> None:
        """Forget what the end of a call, an agent's turn or a session leaves without use."""
        closes = Scope.CALL if closes is Scope.RESULT else closes
        _drop(self._answers, news, closes)
        if closes is Scope.SESSION:
            _drop(self._notes, news, closes)


def _drop(kept: Memory[_Settled], news: Event, closes: Scope) -> None:
    for key, entry in kept.of_session(news):
        if over(entry.event, news, closes):
            kept.drop(key)


def _bare(event: Event) -> Event:
    """Return the event with what is needed of it: a call's whole input, and nothing else."""
    return event.slim(event.tool.input if event.tool else None)


def _leaves(decided: Decided | None) -> bool:
    """Whether a decision leaves the call to the agent's own user."""
    return decided is not None and decided.decision.verdict in (Verdict.ASK, Verdict.PASS)


def _same_named(one: Event, other: Event) -> bool:
    return named(one) and named(other) and same_call(one, other)
