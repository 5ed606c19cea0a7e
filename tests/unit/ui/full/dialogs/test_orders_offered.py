"""`O` offers each person what they may do, and tells apart what is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crabhook.desk.commands import EndOrders, GiveOrder
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Snapshot, Update
from crabhook.model.actor import OWNER, Operator, OrderKind, Role
from crabhook.model.card import Card, Leg
from crabhook.model.event import Event
from crabhook.model.order import Order, Standing
from crabhook.model.session import AgentView, SessionView
from crabhook.server.operators.rights import permission_of
from crabhook.team.membership import NEEDS
from crabhook.ui.full.dialogs.orders import (
    go_away,
    offer_orders,
    offer_session,
    orders_in_title,
)
from crabhook.ui.full.dialogs.prompts import Menu
from crabhook.ui.full.effects import Say, Submit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crabhook.desk.commands import Command
    from crabhook.ui.full.effects import Effects

CARD = Card(7, (Leg("a", Event("claude", "PreToolUse", "s", "/p"), 60.0),), asked_at=0.0)
AGENTS = (AgentView("", "", 0.0),)
SEEN = SessionView("claude", "Claude Code", "s", "/p", "default", 0.0, 0.0, AGENTS)
STANDING = tuple(
    Standing.of(Order(kind, "Stop", session=session), number, OWNER)
    for number, (kind, session) in enumerate(
        [(kind, session) for session in ("s", "gone") for kind in OrderKind], 1
    )
)


class Desk:
    """A desk that has told one snapshot."""

    def __init__(self, role: str) -> None:
        self._me = Operator("1", "ann", "laptop", role=role)

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        listener(Update(0, Snapshot(0.0, orders=STANDING, live=(SEEN,), me=self._me)))
        return lambda: None

    def submit(self, command: Command) -> None:
        raise AssertionError(command)


def seen_by(role: str) -> Replica:
    replica = Replica(Desk(role), lambda: 0.0)
    replica.follow()
    return replica


def rows_of(effects: Effects) -> Menu:
    (menu,) = effects
    assert isinstance(menu, Menu)
    return menu


def submitted(effects: Effects) -> Sequence[Command]:
    return [one.command for one in effects if isinstance(one, Submit)]


@pytest.mark.parametrize("role", ["decider", "admin", ""])
def test_o_offers_nobody_what_the_server_would_refuse(role: str) -> None:
    desk = seen_by(role)
    has = Role(role or "admin")
    for choice in (
        *rows_of(offer_orders(CARD, desk)).choices,
        *rows_of(offer_session(SEEN, desk)).choices,
    ):
        for command in submitted(choice.does()):
            assert has.includes(NEEDS[permission_of(command, STANDING)]), choice.ours
            assert isinstance(command, GiveOrder | EndOrders)
    offered = [one.ours for one in rows_of(offer_orders(CARD, desk)).choices]
    assert ("allow everything of this session for a while…" in offered) is (has is Role.ADMIN)
    assert ("keep this session going at its next stops…" in offered) is (has is Role.ADMIN)
    assert "hold everything of this session" in offered


def test_a_viewer_is_offered_no_order() -> None:
    desk = seen_by("viewer")
    rows = rows_of(offer_orders(CARD, desk)).choices
    assert all(isinstance(effect, Say) for row in rows for effect in row.does())
    assert all(isinstance(effect, Say) for effect in offer_session(SEEN, desk))


def test_only_who_may_be_away_is_asked_for_how_long() -> None:
    (said,) = go_away(seen_by("decider"), lambda: 0)
    assert isinstance(said, Say)
    (asks,) = go_away(seen_by("admin"), lambda: 0)
    assert not isinstance(asks, Say)


def test_an_order_of_a_session_that_is_gone_is_grey_and_comes_last() -> None:
    rows = rows_of(offer_orders(CARD, seen_by("admin"))).choices[: len(STANDING)]
    grey = [row.faint for row in rows]
    assert grey == sorted(grey)
    assert sum(grey) == len(OrderKind)
    assert all("not heard of any more" in row.ours for row in rows if row.faint)


def test_halted_of_a_session_that_is_gone_leaves_the_title() -> None:
    named = orders_in_title(seen_by("admin"))
    halted = [one.session for one in named if one.kind is OrderKind.HALT]
    assert halted == ["s"]
