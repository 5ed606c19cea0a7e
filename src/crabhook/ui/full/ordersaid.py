"""Standing orders in words: what stands, about whom, for how long; always in the status line."""

from collections.abc import Sequence

from crabhook.broker.orders import Kind, Order
from crabhook.ui.full.clock import Clock, lasting
from crabhook.ui.full.letters import Speller
from crabhook.ui.full.paper import Line
from crabhook.ui.summary import brief

_SESSION_SHOWN = 8  # letters of an id, enough to tell a few apart


def what_of(order: Order) -> str:
    """Return what an order does, in words of ours alone."""
    if order.kind is Kind.HOLD:
        return f"hold {order.name}"
    if order.kind is Kind.KEEP_GOING:
        return f"keep going at {order.name}"
    return _WHAT[order.kind]


_WHAT = {
    Kind.HOLD_ALL: "hold everything",
    Kind.ALLOW_ALL: "allow everything",
    Kind.AWAY: "away",
    Kind.HALT: "halted until its next prompt",
}


def scope_of(order: Order) -> str:
    """Return about whom an order is, in an agent's words: not yet safe to show."""
    parts = [f"session {order.session[:_SESSION_SHOWN]}" if order.session else ""]
    parts += [f"project {order.project}" if order.project else ""]
    return brief(", ".join(part for part in parts if part), str)


def orders_line(orders: Sequence[Order], clock: Clock, spell: Speller) -> Line:
    """Return what stands, in a few words: what lets calls pass is told loudest."""
    away = next((order for order in orders if order.kind is Kind.AWAY), None)
    allowing = [order for order in orders if order.kind is Kind.ALLOW_ALL]
    halted = [order for order in orders if order.kind is Kind.HALT]
    loud = (Kind.AWAY, Kind.ALLOW_ALL, Kind.HALT)
    others = [order for order in orders if order.kind not in loud]
    line: Line = []
    if away is not None:
        end = f" until {clock.of_day(away.until)[:5]}" if away.until is not None else ""
        line.append(("held", f"AWAY{end}"))
    if allowing:
        first = min(allowing, key=_end)
        more = f" +{len(allowing) - 1}" if len(allowing) > 1 else ""
        said = f"ALLOWING {spell(first.session[:_SESSION_SHOWN])}{more} {_left(first, clock)}"
        line.append(("held", said))
    if halted:
        more = f" +{len(halted) - 1}" if len(halted) > 1 else ""
        line.append(("held", f"HALTED {spell(halted[0].session[:_SESSION_SHOWN])}{more}"))
    if others:
        first = min(others, key=_end)
        ends = f", next ends {_left(first, clock)}" if first.until is not None else ""
        line.append(("count", f"{len(others)} order{'' if len(others) == 1 else 's'}{ends}"))
    return [span for one in line for span in (one, ("", " · "))]


def _end(order: Order) -> float:
    return float("inf") if order.until is None else order.until


def _left(order: Order, clock: Clock) -> str:
    return lasting(_end(order) - clock.now)
