"""The sessions, from a list: what each does, a note to one or to its subagent, a stop, an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import OrderKind
from tests.support.sitting import Sitting

if TYPE_CHECKING:
    from crabhook.ui.full.dialogs.prompts import Menu

SESSION = "3f1c0000"
EVIL = "ev\x1b[31mil\u202e/</x>"


def told() -> dict[str, object]:
    return {
        "hook_event_name": "SubagentStart",
        "session_id": SESSION,
        "agent_id": "a1",
        "agent_type": EVIL,
    }


def at_the_list(**options: object) -> Sitting:
    sitting = Sitting(rows=40, **options)
    sitting.ask()
    sitting.desk.ask(told())
    sitting.wait()
    sitting.desk.pass_time(1)
    sitting.press("S")
    sitting.wait()
    return sitting


def menu_of(sitting: Sitting) -> Menu:
    menu = sitting.screen.focus.menu
    assert menu is not None
    return menu


def choose(sitting: Sitting, row: str) -> None:
    place = next(at for at, one in enumerate(menu_of(sitting).choices) if one.ours.startswith(row))
    for _ in range(place):
        sitting.press("down")
    sitting.press("enter")
    sitting.wait()


def notes(sitting: Sitting) -> list[tuple[str, str, bool]]:
    return [(n.agent, n.text, n.waits) for view in sitting.desk.replica.live() for n in view.notes]


def test_the_list_shows_a_session_with_what_it_does_and_what_waits() -> None:
    sitting = at_the_list()
    (row,) = menu_of(sitting).choices
    assert "Claude Code" in row.ours
    assert "waits for you: #1" in row.ours
    assert "1 subagent" in row.ours
    shown = "\n".join(sitting.rows_of_text())
    assert "api-server" in shown
    assert "\x1b[31m" not in shown.replace("\x1b", "")
    assert "main agent" in shown


@pytest.mark.parametrize(
    ("row", "agent"), [("note to its main agent", ""), ("note to a subagent", "a1")]
)
def test_a_note_is_typed_and_waits_for_the_call_of_the_agent_it_is_for(
    row: str, agent: str
) -> None:
    sitting = at_the_list()
    choose(sitting, "Claude Code")
    choose(sitting, row)
    sitting.type("use the blue one")
    sitting.press("enter")
    assert notes(sitting) == [(agent, "use the blue one", True)]
    assert len(sitting.desk.waiting()) == 1


def test_a_note_that_waits_can_be_taken_back_from_the_list() -> None:
    sitting = at_the_list()
    choose(sitting, "Claude Code")
    choose(sitting, "note to its main agent")
    sitting.type("use the blue one")
    sitting.press("enter")
    sitting.press("S")
    sitting.wait()
    choose(sitting, "Claude Code")
    choose(sitting, "take back note 1")
    assert notes(sitting) == []


@pytest.mark.parametrize("row", ["note to its main agent", "stop the session"])
def test_an_empty_note_and_an_empty_reason_are_nothing(row: str) -> None:
    sitting = at_the_list()
    choose(sitting, "Claude Code")
    choose(sitting, row)
    sitting.press("enter")
    assert notes(sitting) == []
    assert not sitting.desk.orders()
    assert "write it: the agent reads it" in "\n".join(sitting.rows_of_text())


def test_a_stop_is_a_halt_and_denies_what_waits() -> None:
    sitting = at_the_list()
    choose(sitting, "Claude Code")
    choose(sitting, "stop the session")
    sitting.type("the wrong branch")
    sitting.press("enter")
    (order,) = sitting.desk.orders()
    assert (order.kind, order.session, order.agent, order.words) == (
        OrderKind.HALT, SESSION, "", "the wrong branch",
    )  # fmt: skip
    assert not sitting.desk.waiting()


def test_a_session_is_held_whole_from_the_list() -> None:
    sitting = at_the_list()
    choose(sitting, "Claude Code")
    choose(sitting, "hold everything")
    assert [one.kind for one in sitting.desk.orders()] == [OrderKind.HOLD_ALL]


def test_without_any_session_the_key_says_so() -> None:
    sitting = Sitting()
    sitting.press("S")
    assert sitting.screen.focus.menu is None
    assert "no session was heard of yet" in "\n".join(sitting.rows_of_text())
