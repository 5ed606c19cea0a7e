"""The broker: told what happened, it says what is to be done about it.

`Broker.handle(fact)` is the whole interface of the state machine; everything
else here is read-only.  One fact is handled to its end before the next, so
no two of them ever see a half-made change.  It calls nobody: what has to be looked up
or judged comes with the fact.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crabhook.broker import arriving, commands, ending, messages, restoring
from crabhook.broker.messages import Effect
from crabhook.broker.pending import LIMITS, Limits
from crabhook.broker.state import BrokerState
from crabhook.model.card import Card, FeedEntry
from crabhook.model.decision import Decision
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.model.session import SessionKey, SessionView
from crabhook.platforms.interface import Platform


def _noted(state: BrokerState, fact: messages.Noted) -> list[Effect]:
    return [state.note(fact.event, fact.text, alarm=fact.alarm)]


_HANDLERS: Mapping[type, Callable[[BrokerState, Any], list[Effect]]] = {
    messages.Arrived: arriving.arrived,
    messages.Answered: ending.answered,
    messages.Left: ending.left,
    messages.TimePassed: ending.time_passed,
    messages.Closing: ending.closing,
    messages.Delivered: ending.delivered,
    messages.Commanded: commands.commanded,
    messages.RuleAdded: commands.rule_added,
    messages.Reconsidered: commands.reconsidered,
    messages.Noted: _noted,
    messages.Restored: restoring.restored,
}


class Broker:
    """Pairs requests with decisions, each exactly once."""

    def __init__(self, platforms: Mapping[str, Platform], bounds: Limits = LIMITS) -> None:
        self._state = BrokerState(platforms, bounds)

    def __repr__(self) -> str:
        return f"<Broker {self._state!r}>"

    def handle(self, fact: messages.Fact) -> list[Effect]:
        """Take in one fact; return what is to be done about it, in order.

        Raises TooLateError, StaleError or DecisionError for what cannot be done; then
        nothing has changed.
        """
        self._state.now = fact.now
        return _HANDLERS[type(fact)](self._state, fact)

    def check(self, number: int, decision: Decision, seen: int | None = None) -> None:
        """Raise what `Answered` would of a call as it was asked."""
        ending.check(self._state, number, decision, {}, seen)

    def changed(self, number: int, decision: Decision) -> Mapping[str, Event]:
        """Return a card's calls as a decision changes them, by request id: they are to be judged.

        Answers to questions and changed plans run nothing.  Raises TooLateError.
        """
        return ending.changed_calls(self._state, ending.known_card(self._state, number), decision)

    def alike(self, number: int) -> Sequence[Card]:
        """Return the cards that a rule added on this one may decide: they are to be judged anew."""
        return commands.alike(self._state, number)

    def waiting(self) -> tuple[Card, ...]:
        """Return the cards that wait, the oldest first."""
        return self._state.cards.waiting()

    def secret_of(self, request_id: str) -> str:
        """Return the secret of a request that waits: no card tells it."""
        return self._state.pending.secret(request_id)

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""
        return self._state.cards.card(number)

    def ended(self) -> tuple[Card, ...]:
        """Return the cards that ended not long ago, the newest last."""
        return self._state.cards.ended()

    def feed(self) -> tuple[FeedEntry, ...]:
        """Return what went by, the newest last."""
        return tuple(self._state.feed)

    def sessions(self) -> int:
        """Return how many sessions were heard of and have not ended."""
        return len(self._state.sessions)

    @property
    def sessions_changed(self) -> bool:
        """Whether there is something new to see of a session."""
        return self._state.sessions.changed

    def session_changes(self, now: float) -> tuple[tuple[SessionView, ...], tuple[SessionKey, ...]]:
        """Return the sessions that have changed since this was asked last, and those that ended."""
        return self._state.sessions.take_changes(now)

    def live(self, now: float) -> tuple[SessionView, ...]:
        """Return the sessions that live, the last that was heard of at the end."""
        return self._state.sessions.views(now)

    def holdable(self) -> tuple[str, ...]:
        """Return the names of the events an operator may ask to hold."""
        return self._state.holdable()

    def halts(self) -> tuple[Standing, ...]:
        """Return the orders by which sessions are halted."""
        return self._state.orders.halts()

    def orders(self) -> tuple[Standing, ...]:
        """Return the orders that stand, the oldest first."""
        return self._state.orders.standing()
