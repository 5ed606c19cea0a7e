"""What acts become that decide no card: how long a card waits, and whether the operator is here.

Every face offers these acts, and makes their commands here. Times are on the desk's clock.
"""

from collections.abc import Iterable

from crabhook.desk.commands import EndOrders, Extend, Snooze
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.order import Order, Standing

_LONGER = 600.0  # seconds a card is given
_ASIDE = 300.0  # seconds a card is put aside for
_LEFT_TO_DECIDE = 60.0  # seconds before its end at which a card is back at the latest


def wait_longer(card: Card) -> Extend:
    """Let a card wait longer by one key or one tap."""
    return Extend(card.number, _LONGER)


def snooze(card: Card, now: float) -> Snooze:
    """Put a card aside by one key or one tap; bring it back if it is aside."""
    left = card.wait_until - now
    seconds = min(_ASIDE, max(left - _LEFT_TO_DECIDE, left / 2))
    return Snooze(card.number, 0.0 if card.snoozed_until > 0 else seconds)


def away(now: float, seconds: float | None) -> Order:
    """Return the order of an operator who leaves for so long; with None until they are here."""
    return Order(OrderKind.AWAY, until=None if seconds is None else now + seconds)


def here(orders: Iterable[Standing]) -> EndOrders | None:
    """Return what ends all orders of operators who left; None where nobody has left."""
    ids = frozenset(order.id for order in orders if order.kind is OrderKind.AWAY)
    return EndOrders(ids) if ids else None
