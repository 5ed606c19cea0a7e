"""What stands is told in the status line, the loudest first, and never raw."""

from __future__ import annotations

from crabhook.model.actor import OrderKind
from crabhook.model.order import Order
from crabhook.present.phrases import Clock
from crabhook.present.safe import safe
from crabhook.ui.full.dialogs.orders import orders_line, scope_of, what_of

CLOCK = Clock(1000.0, 1_700_000_000.0)


def said(*orders: Order) -> str:
    return "".join(text for _, text in orders_line(orders, CLOCK, safe))


def test_nothing_standing_is_nothing_said() -> None:
    assert said() == ""


def test_away_comes_first_then_what_is_allowed_then_how_many_others() -> None:
    line = said(
        Order(OrderKind.HOLD, "Stop"),
        Order(OrderKind.ALLOW_ALL, session="3f1c0000-more", until=1552.0),
        Order(OrderKind.AWAY),
        Order(OrderKind.HOLD_ALL, session="x", until=1042.0),
    )
    assert line == "AWAY · ALLOWING 3f1c0000 9:12 · 2 orders, next ends 0:42 · "


def test_of_several_allowed_sessions_the_next_to_end_is_named_and_the_others_counted() -> None:
    line = said(
        Order(OrderKind.ALLOW_ALL, session="later", until=2000.0),
        Order(OrderKind.ALLOW_ALL, session="soon", until=1010.0),
    )
    assert line == "ALLOWING soon +1 0:10 · "


def test_away_tells_its_end_by_the_clock_on_the_wall() -> None:
    end = CLOCK.of_day(1060.0)[:5]
    assert said(Order(OrderKind.AWAY, until=1060.0)) == f"AWAY until {end} · "


def test_a_hostile_session_is_marked() -> None:
    assert "\x1b" not in said(Order(OrderKind.ALLOW_ALL, session="\x1b[2J", until=1010.0))


def test_every_kind_has_its_words_and_its_scope() -> None:
    for kind in OrderKind:
        assert what_of(Order(kind, "Stop"))
    assert what_of(Order(OrderKind.KEEP_GOING, "Stop")) == "keep going at Stop"
    order = Order(OrderKind.HOLD, "Stop", session="3f1c0000-more", project="/p")
    assert scope_of(order) == "session 3f1c0000, project /p"
    assert scope_of(Order(OrderKind.AWAY)) == ""


def test_an_order_that_lets_pass_without_end_is_told_of_like_any_other() -> None:
    line = said(Order(OrderKind.ALLOW_ALL, session="3f1c0000"))
    assert line == "ALLOWING 3f1c0000 without end · "
