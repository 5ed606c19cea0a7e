"""The broker: told what happened, it says what is to be done about it.

`Broker.handle(fact)` is the whole interface of the state machine; everything
else here is read-only.  One fact is handled to its end before the next, so
no two of them ever see a half-made change.  It calls nobody: what has to be looked up
or judged comes with the fact.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crabhook.broker import arriving, ending, facts, ordering, reconsidering, restoring
from crabhook.broker.books import Books
from crabhook.broker.card import Card, FeedEntry
from crabhook.broker.effects import Effect
from crabhook.broker.waitingroom import BOUNDS, Bounds
from crabhook.model.decision import Decision
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.platforms.interface import Platform


def _noted(books: Books, fact: facts.Noted) -> list[Effect]:
    return [books.note(fact.now, fact.event, fact.text, alarm=fact.alarm)]


_HANDLERS: Mapping[type, Callable[[Books, Any], list[Effect]]] = {
    facts.Arrived: arriving.arrived,
    facts.Answered: ending.answered,
    facts.Left: ending.left,
    facts.TimePassed: ending.time_passed,
    facts.Closing: ending.closing,
    facts.Delivered: ending.delivered,
    facts.Ordered: ordering.ordered,
    facts.Revoked: ordering.revoked,
    facts.RuleAdded: reconsidering.rule_added,
    facts.Reconsidered: reconsidering.reconsidered,
    facts.Noted: _noted,
    facts.Extended: ordering.extended,
    facts.Snoozed: ordering.snoozed,
    facts.Restored: restoring.restored,
}


class Broker:
    """Pairs requests with decisions, each exactly once."""

    def __init__(self, platforms: Mapping[str, Platform], bounds: Bounds = BOUNDS) -> None:
        self._books = Books(platforms, bounds)

    def __repr__(self) -> str:
        return f"<Broker {self._books!r}>"

    def handle(self, fact: facts.Fact) -> list[Effect]:
        """Take in one fact; return what is to be done about it, in order.

        Raises TooLateError or DecisionError for what cannot be done; then
        nothing has changed.
        """
        return _HANDLERS[type(fact)](self._books, fact)

    def check(self, number: int, decision: Decision) -> None:
        """Raise what `Answered` would of a call as it was asked: TooLateError or DecisionError."""
        ending.check(self._books, number, decision, {})

    def changed(self, number: int, decision: Decision) -> Mapping[str, Event]:
        """Return a card's calls as a decision changes them, by request id: they are to be judged.

        Answers to questions and changed plans run nothing.  Raises TooLateError.
        """
        return ending.changed_calls(self._books, ending.known_card(self._books, number), decision)

    def alike(self, number: int) -> Sequence[Card]:
        """Return the cards that a rule added on this one may decide: they are to be judged anew."""
        return reconsidering.alike(self._books, number)

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait, the oldest first."""
        return self._books.shelf.waiting()

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""
        return self._books.shelf.card(number)

    def ended(self) -> Sequence[Card]:
        """Return the cards that ended not long ago, the newest last."""
        return self._books.shelf.ended()

    def feed(self) -> Sequence[FeedEntry]:
        """Return what went by, the newest last."""
        return tuple(self._books.feed)

    def sessions(self) -> int:
        """Return how many sessions were heard of and have not ended."""
        return len(self._books.sessions)

    def holdable(self) -> Sequence[str]:
        """Return the names of the events an operator may ask to hold."""
        return self._books.holdable()

    def halts(self) -> Sequence[Standing]:
        """Return the orders by which sessions are halted."""
        return self._books.orders.halts()

    def orders(self) -> Sequence[Standing]:
        """Return the orders that stand, the oldest first."""
        return self._books.orders.standing()
