"""The sessions, in a view of their own: what each does, a note to one or to its subagent, a stop, an order."""

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
    menu = sitting.menu
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


def test_the_view_shows_each_session_with_what_it_does_and_what_waits_and_as_it_changes() -> None:
    sitting = at_the_list()
    shown = sitting.text()
    for told in ("Sessions · 1 live", "Claude Code", "api-server", "1 waiting", "main agent"):
        assert told in shown
    assert "\x1b[31m" not in shown.replace("\x1b", "")
    sitting.ask(tool_input={"command": "make it so"}, session_id="4a000000")
    sitting.wait()
    assert "Sessions · 2 live" in sitting.text()
    assert sitting.screen.sessions.chosen == sitting.desk.live()[0]  # news moves nothing
    sitting.press("down")
    assert "make it so" in sitting.text()
    sitting.press("c")
    assert [card.event.session for card in sitting.screen.selection.queue.cards()] == ["4a000000"]


@pytest.mark.parametrize("back", ["Q", "escape"])
def test_views_lead_to_each_other_and_none_decides(back: str) -> None:
    sitting = at_the_list()
    for key in ("a", "d", "h", "p", "f", "1", "M"):
        sitting.press(key)
    sitting.press("H", "a", "d", "p", "S", back)
    sitting.wait(10)
    assert not sitting.decided()
    assert "What this session ran" in sitting.text()


def test_a_note_and_a_stop_are_a_key_each() -> None:
    sitting = at_the_list()
    sitting.press("n")
    sitting.type("use the blue one")
    sitting.press("enter")
    assert notes(sitting) == [("", "use the blue one", True)]
    sitting.press("x")
    sitting.type("enough")
    sitting.press("enter")
    assert [one.words for one in sitting.desk.orders()] == ["enough"]


@pytest.mark.parametrize(
    ("row", "agent"), [("note to its main agent", ""), ("note to a subagent", "a1")]
)
def test_a_note_is_typed_and_waits_for_the_call_of_the_agent_it_is_for(
    row: str, agent: str
) -> None:
    sitting = at_the_list()
    sitting.press("enter")
    sitting.wait()
    choose(sitting, row)
    sitting.type("use the blue one")
    sitting.press("enter")
    assert notes(sitting) == [(agent, "use the blue one", True)]
    assert len(sitting.desk.waiting()) == 1


def test_a_note_that_waits_can_be_taken_back_from_the_list() -> None:
    sitting = at_the_list()
    sitting.press("enter")
    sitting.wait()
    choose(sitting, "note to its main agent")
    sitting.type("use the blue one")
    sitting.press("enter")
    sitting.press("enter")
    sitting.wait()
    choose(sitting, "take back note 1")
    assert notes(sitting) == []


@pytest.mark.parametrize("row", ["note to its main agent", "stop the session"])
def test_an_empty_note_and_an_empty_reason_are_nothing(row: str) -> None:
    sitting = at_the_list()
    sitting.press("enter")
    sitting.wait()
    choose(sitting, row)
    sitting.press("enter")
    assert notes(sitting) == []
    assert not sitting.desk.orders()
    assert "write it: the agent reads it" in "\n".join(sitting.rows_of_text())


def test_a_stop_is_a_halt_and_denies_what_waits() -> None:
    sitting = at_the_list()
    sitting.press("enter")
    sitting.wait()
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
    sitting.press("enter")
    sitting.wait()
    choose(sitting, "hold everything")
    assert [one.kind for one in sitting.desk.orders()] == [OrderKind.HOLD_ALL]


def test_without_any_session_the_key_says_so() -> None:
    sitting = Sitting()
    sitting.press("S")
    assert sitting.menu is None
    assert "no session was heard of yet" in "\n".join(sitting.rows_of_text())
