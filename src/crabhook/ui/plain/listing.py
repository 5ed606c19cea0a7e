"""The plain desk's list: what waits, the oldest first, and the orders that stand."""

from collections.abc import Iterator

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk
from crabhook.ui.plain.order_line import order_line
from crabhook.ui.plain.show import clock
from crabhook.ui.secrets import covered
from crabhook.ui.summary import brief, project, summary, tool_label
from crabhook.ui.target import first_alike


def list_lines(desk: Desk) -> Iterator[str]:
    """Yield what is wrong, then a line for each card that waits, and for each standing order."""
    waiting, now = desk.waiting(), desk.now()
    yield from (f"! {brief(wrong, covered)}" for wrong in desk.troubles())
    for card in waiting:
        first = first_alike(card, waiting)
        same = f" · the same as #{first.number}" if first else ""
        yield _line(card, now) + same
    if not waiting:
        yield "· nothing waits"
    yield from (order_line(order, now) for order in desk.orders())


def _line(card: Card, now: float) -> str:
    event = card.event
    times = f"waits {clock(now - card.asked_at)}, {clock(card.wait_until - now)} left"
    if card.snoozed_until:
        times += f", aside for {clock(card.snoozed_until - now)}"
    about = " ".join(tell(event, covered) for tell in (tool_label, project, summary)).rstrip()
    return f"#{card.number} {times} · {about}"
