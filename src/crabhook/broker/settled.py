"""What was just decided, and the later events of the same calls that it still has to reach.

Two things follow a decided call.  When its PreToolUse was decided and Claude
Code asks again through PermissionRequest, the operator is not asked twice.
And when the leg that was answered could not carry the operator's note to the
model, the note goes with the call's result.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace

from crabhook.broker.calls import over, same_call
from crabhook.model.decision import Decision, Verdict, no_opinion
from crabhook.model.event import Event, Scope

ASKED_AGAIN_WITHIN = 60.0  # seconds; a PermissionRequest follows its PreToolUse at once
NOTE_KEPT = 86_400.0  # seconds; a note waits as long as its tool may run
KEPT = 256  # entries of each kind, the oldest forgotten first


@dataclass(frozen=True, slots=True)
class _Settled:
    event: Event
    decision: Decision
    at: float

    def speaks_of(self, later: Event) -> bool:
        changed = self.decision.updated_input
        return same_call(self.event, later) or (
            changed is not None and same_call(self.event.slim(dict(changed)), later)
        )


class SettledCalls:
    """The memory of calls decided a moment ago; bounded in number and in time."""

    def __init__(self) -> None:
        self._answers: OrderedDict[int, _Settled] = OrderedDict()
        self._notes: OrderedDict[int, _Settled] = OrderedDict()
        self._next = 0

    def __repr__(self) -> str:
        return f"<SettledCalls answers={len(self._answers)} notes={len(self._notes)}>"

    def remember_answer(self, event: Event, decision: Decision, now: float) -> None:
        """Keep a decision on PreToolUse, for the PermissionRequest that may follow."""
        self._keep(self._answers, _Settled(event, decision, now))

    def remember_note(self, event: Event, decision: Decision, now: float) -> None:
        """Keep a note that the answered leg could not carry, for the call's result."""
        self._keep(self._notes, _Settled(event, decision, now))

    def answer_again(self, event: Event, now: float) -> Decision | None:
        """Return what was decided about the call `event` asks about again, once.

        Of several calls that look alike one with no opinion is taken first:
        a doubt is never settled by an allow.
        """
        found = [
            (entry.decision.verdict is Verdict.ALLOW, key)
            for key, entry in self._answers.items()
            if now - entry.at <= ASKED_AGAIN_WITHIN
            and entry.event.name != event.name
            and entry.speaks_of(event)
        ]
        if not found:
            return None
        decision = self._answers.pop(min(found)[1]).decision
        if decision.verdict in (Verdict.ASK, Verdict.PASS):
            return no_opinion("left to the agent's own user a moment ago")
        return decision

    def take_note(self, event: Event, now: float) -> str:
        """Return the note that belongs to the call whose result `event` is, once."""
        for key, entry in self._notes.items():
            if now - entry.at <= NOTE_KEPT and entry.speaks_of(event):
                del self._notes[key]
                return entry.decision.note
        return ""

    def forget(self, news: Event, closes: Scope) -> None:
        """Forget what the end of a call, an agent's turn or a session leaves without use."""
        self._drop(self._answers, news, closes)
        if closes is Scope.SESSION:
            self._drop(self._notes, news, closes)

    def _keep(self, kept: OrderedDict[int, _Settled], entry: _Settled) -> None:
        self._next += 1
        tool_input = entry.event.tool.input if entry.event.tool else None
        kept[self._next] = replace(entry, event=entry.event.slim(tool_input))
        if len(kept) > KEPT:
            kept.popitem(last=False)

    def _drop(self, kept: OrderedDict[int, _Settled], news: Event, closes: Scope) -> None:
        for key in [key for key, entry in kept.items() if over(entry.event, news, closes)]:
            del kept[key]
