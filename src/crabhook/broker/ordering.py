"""What the operator says beside deciding: standing orders, and more or later time for a card."""

from dataclasses import replace

from crabhook.broker.books import Books
from crabhook.broker.effects import Effect
from crabhook.broker.ending import known_card
from crabhook.broker.facts import Extended, Ordered, Revoked, Snoozed
from crabhook.broker.states import State, TooLateError
from crabhook.model.actor import OrderKind
from crabhook.model.ending import Ended
from crabhook.model.errors import DecisionError

_ABOUT_AN_EVENT = frozenset({OrderKind.HOLD, OrderKind.KEEP_GOING})


def ordered(books: Books, fact: Ordered) -> list[Effect]:
    """Take a standing order; raise DecisionError for one that makes no sense.

    Whoever is away decides nothing, so what waits already is let go as well.
    """
    if fact.order.kind in _ABOUT_AN_EVENT and fact.order.name not in books.holdable():
        raise DecisionError(f"no event called {fact.order.name!r:.60} can be held")
    given = books.orders.give(fact.order, fact.by)
    effects: list[Effect] = [books.note(fact.now, given.event, str(given))]
    if fact.order.until is not None:
        effects.append(books.wake(fact.order.until))
    if fact.order.kind is OrderKind.AWAY:
        effects += books.let_go(Ended.AWAY, fact.now)
    return effects


def revoked(books: Books, fact: Revoked) -> list[Effect]:
    """End standing orders; raise DecisionError where there is none to end."""
    ended = books.orders.revoke(fact.matches)
    if not ended:
        raise DecisionError("there is no such order to end")
    return [books.note(fact.now, order.event, f"ended: {order}") for order in ended]


def extended(books: Books, fact: Extended) -> list[Effect]:
    """Let a card wait longer, as long as its hooks can.

    Raises TooLateError for a card that has ended, DecisionError where the
    card waits as long as its hook does already: the agent is there, but has a limit.
    """
    card = known_card(books, fact.number)
    if card.state is not State.WAITING:
        raise TooLateError(f"#{card.number} is already {card.state}; its time cannot be extended")
    legs = tuple(
        replace(
            leg, wait_until=max(leg.wait_until, min(leg.wait_until + fact.seconds, leg.gives_up_at))
        )
        for leg in card.requests
    )
    longer = replace(card, requests=legs)
    if longer.wait_until - card.wait_until < 1:
        raise DecisionError(
            f"#{card.number} waits for you as long as its hook does already, and no longer can be "
            "asked of it: `crabhook install --wait` sets that limit"
        )
    wakes = [books.wake(leg.wait_until, leg.id) for leg in legs]
    return [books.put(longer), *wakes]


def snoozed(books: Books, fact: Snoozed) -> list[Effect]:
    """Put a card aside until a time; it goes on waiting meanwhile."""
    card = known_card(books, fact.number)
    if card.state is not State.WAITING:
        raise TooLateError(f"#{card.number} is already {card.state}; it cannot be put aside")
    return [books.put(replace(card, snoozed_until=fact.until)), books.wake(fact.until)]
