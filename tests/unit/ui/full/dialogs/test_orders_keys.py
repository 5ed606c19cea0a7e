"""Standing orders: given and ended from a list, always in sight, never by a slip."""

from __future__ import annotations

from itertools import groupby

import pytest

from crabhook.model.actor import OrderKind
from crabhook.model.decision import Verdict
from crabhook.model.order import Order, Standing
from tests.support.sitting import Sitting, call, happening

SESSION = "3f1c0000"


def at_the_list(**options: object) -> Sitting:
    sitting = Sitting(rows=40, **options)
    sitting.ask()
    sitting.wait()
    sitting.press("O")
    sitting.wait()
    return sitting


def choose(sitting: Sitting, row: str) -> None:
    """Choose the row that begins so."""
    menu = sitting.menu
    assert menu is not None
    place = next(at for at, one in enumerate(menu.choices) if one.ours.startswith(row))
    for _ in range(place):
        sitting.press("down")
    sitting.press("enter")


@pytest.mark.parametrize(
    ("row", "order"),
    [
        ("hold everything of this session", Order(OrderKind.HOLD_ALL, session=SESSION, machine="")),
        (
            "ask me before this session finishes",
            Order(OrderKind.HOLD, "Stop", session=SESSION, machine=""),
        ),
        (
            "ask me before a session of this project finishes",
            Order(OrderKind.HOLD, "Stop", project="/home/ann/api-server"),
        ),
        ("ask me before any session finishes", Order(OrderKind.HOLD, "Stop")),
    ],
)
def test_holding_is_one_row(row: str, order: Order) -> None:
    sitting = at_the_list()
    choose(sitting, row)
    (one,) = sitting.desk.orders()
    assert one == Standing.of(order, one.id, one.by)
    assert "1 order" in sitting.rows_of_text()[0]


def test_any_event_that_can_be_held_is_in_a_list_of_its_own() -> None:
    sitting = at_the_list()
    choose(sitting, "ask me about another event of this session")
    sitting.wait()
    menu = sitting.menu
    assert menu is not None
    assert {one.ours for one in menu.choices} == {
        f"hold {name}" for name in sitting.desk.holdable()
    }
    choose(sitting, "hold PreCompact")
    held = Order(OrderKind.HOLD, "PreCompact", session=SESSION, machine="")
    (one,) = sitting.desk.orders()
    assert one == Standing.of(held, one.id, one.by)


def test_the_events_held_most_come_first_and_those_of_one_name_together() -> None:
    sitting = at_the_list()
    choose(sitting, "ask me about another event of every session")
    menu = sitting.menu
    assert menu is not None
    names = [name for name, _ in groupby(one.ours.removeprefix("hold ") for one in menu.choices)]
    assert len(names) == len(set(names))
    assert set(names[:4]) == {"Stop", "SubagentStop", "UserPromptSubmit", "PostToolUse"}


def test_a_whole_session_is_allowed_for_a_while_after_a_page_that_was_read() -> None:
    sitting = at_the_list()
    choose(sitting, "allow everything")
    assert sitting.draw().cursor is not None
    sitting.press("c-u", "enter")
    assert "say for how long" in sitting.text()
    sitting.type("10m")
    sitting.press("enter", "enter", "y")
    assert not sitting.desk.orders()
    assert f"│ {SESSION}" in sitting.text()
    sitting.wait()
    sitting.press("y")
    assert "ALLOWING 3f1c0000 9:59" in sitting.rows_of_text()[0]
    sitting.desk.ask(call(tool_input={"command": "make"}))
    assert [card.number for card in sitting.desk.waiting()] == [1]
    sitting.wait(601)
    assert "ALLOWING" not in sitting.text()
    sitting.desk.ask(call(tool_input={"command": "make"}))
    assert len(sitting.desk.waiting()) == 1


@pytest.mark.parametrize("text", ["", "x", "0m", "-5", "101h"])
def test_a_time_that_cannot_be_read_orders_nothing(text: str) -> None:
    sitting = at_the_list()
    choose(sitting, "allow everything")
    sitting.press("c-u")
    sitting.type(text)
    sitting.press("enter")
    sitting.wait()
    sitting.press("y", "enter")
    assert not sitting.desk.orders()


def test_a_session_is_kept_going_so_many_times() -> None:
    sitting = at_the_list()
    choose(sitting, "keep this session going")
    sitting.type("9 on")
    sitting.press("enter")
    assert "1 to 8" in sitting.text()
    assert not sitting.desk.orders()
    sitting.press("O")
    sitting.wait()
    choose(sitting, "keep this session going")
    sitting.type("2 run the tests")
    sitting.press("enter")
    name = sitting.desk.ask(happening("Stop"))
    assert sitting.desk.replies[name].output == {"decision": "block", "reason": "run the tests"}


def test_an_order_is_ended_from_the_list() -> None:
    sitting = at_the_list()
    choose(sitting, "ask me before this session finishes")
    sitting.press("O")
    sitting.wait()
    assert "END: hold Stop" in sitting.text()
    sitting.press("1")
    assert not sitting.desk.orders()
    assert "ended: hold Stop" in sitting.text()


def test_an_order_that_has_ended_meanwhile_is_said_to_be_gone() -> None:
    sitting = at_the_list()
    choose(sitting, "ask me before this session finishes")
    sitting.press("O")
    sitting.wait()
    sitting.desk.revoke(frozenset(order.id for order in sitting.desk.orders()))
    sitting.press("1")
    assert "no such order" in sitting.text()


def test_a_row_chosen_before_the_list_was_read_orders_nothing() -> None:
    sitting = Sitting(rows=40)
    sitting.ask()
    sitting.wait()
    sitting.press("O", "2", "enter")
    assert not sitting.desk.orders()


def is_away(sitting: Sitting) -> bool:
    return any(order.kind is OrderKind.AWAY for order in sitting.screen.desk.orders())


def test_away_lets_everything_go_back_after_it_was_said_how_much_that_is() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.ask(session_id="b")
    sitting.wait()
    sitting.press("b", "enter", "enter")
    assert "2 waiting requests go back" in sitting.text()
    assert not is_away(sitting)
    sitting.wait()
    sitting.press("y")
    assert is_away(sitting)
    assert sitting.rows_of_text()[0].startswith(" AWAY")
    assert not sitting.desk.waiting()
    assert not sitting.decided()  # nobody decided: there was no opinion
    sitting.desk.ask(call(session_id="c"))
    assert not sitting.desk.waiting()


def test_away_ends_by_itself_and_by_one_key() -> None:
    sitting = Sitting()
    sitting.press("b")
    sitting.type("2h")
    sitting.press("enter")
    sitting.wait()
    sitting.press("y")
    assert " AWAY until " in sitting.rows_of_text()[0]
    sitting.wait(7201)
    assert "AWAY" not in sitting.text()
    sitting.press("b", "enter")
    sitting.wait()
    sitting.press("y")
    assert "I AM BACK" in sitting.text()
    sitting.press("b")
    assert not sitting.desk.orders()
    sitting.ask()
    assert len(sitting.desk.waiting()) == 1


def test_more_that_waits_makes_away_another_page() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.press("b", "enter")
    sitting.wait()
    sitting.ask(session_id="b")
    sitting.press("y")
    assert not is_away(sitting)
    sitting.wait()
    sitting.press("y")
    assert is_away(sitting)


def test_orders_can_be_given_with_nobody_waiting() -> None:
    sitting = Sitting(rows=40)
    sitting.press("O")
    sitting.wait()
    choose(sitting, "ask me before any session finishes")
    assert sitting.desk.orders()


def test_a_hostile_session_is_named_in_marks_everywhere() -> None:
    hostile = "\x1b[2J\u202e;\x07"
    for ascii_only in (False, True):
        sitting = Sitting(rows=40, ascii=ascii_only)
        sitting.ask(session_id=hostile, cwd=f"/{hostile}")
        sitting.wait()
        sitting.press("O")
        shown = sitting.text()
        sitting.wait()
        choose(sitting, "allow everything")
        shown += sitting.text()
        sitting.press("enter")
        shown += sitting.text()
        sitting.wait()
        sitting.press("y")
        shown += sitting.text()
        assert sitting.desk.orders()[0].session == hostile
        assert not [
            letter for letter in shown if letter in hostile.replace(";", "").replace("[2J", "")
        ]
        assert not ascii_only or shown.isascii()


def test_an_allowed_session_still_asks_its_questions() -> None:
    sitting = Sitting()
    sitting.desk.order(Order(OrderKind.ALLOW_ALL, session=SESSION, until=sitting.desk.now() + 60))
    sitting.ask("ExitPlanMode", {"plan": "# x"})
    assert len(sitting.desk.waiting()) == 1
    assert sitting.verdicts() == []
    assert Verdict.ALLOW in sitting.card.choices.verdicts
