"""A plan is rejected line by line, and compared with the one that was rejected before it."""

from __future__ import annotations

from typing import Any

from crabhook.model.decision import Decision, Verdict
from crabhook.present.plan import LABELS, denied_before, plan_of
from crabhook.ui.full.dialogs.plan import MOST_LINES, PlanNotes
from tests.support.desk import PlayedDesk
from tests.support.sitting import Sitting, call

FAR = 1 << 20
PLAN = "# Plan\n\n1. Delete everything\n2. Build"


def asked(desk: PlayedDesk, plan: str = PLAN, **fields: Any) -> int:
    event = {"hook_event_name": "PermissionRequest", **fields}
    name = desk.ask(call("ExitPlanMode", {"plan": plan}, **event))
    return next(card.number for card in desk.waiting() if card.requests[0].id == name)


def test_the_cursor_passes_over_blank_lines_and_ends_behind_the_last() -> None:
    notes = PlanNotes(PLAN)
    seen = []
    for _ in range(6):
        seen.append(notes.at)
        notes.move(+1)
    assert seen == [0, 2, 3, 4, 4, 4]
    notes.move(-FAR)
    assert notes.at == 0


def test_the_reason_quotes_each_line_with_its_note() -> None:
    notes = PlanNotes(PLAN)
    notes.move(+FAR)
    notes.write("go slower")
    notes.at = 2
    notes.write(" only build/ ")
    assert notes.reason().split("\n\n")[1:] == [
        "Line 3:\n> 1. Delete everything\nonly build/",
        "On the whole plan:\ngo slower",
    ]


def test_an_empty_note_is_none() -> None:
    notes = PlanNotes(PLAN)
    notes.write("x")
    notes.write("  ")
    assert (notes.count, notes.reason()) == (0, "")


def test_a_plan_of_any_length_can_be_noted_on() -> None:
    notes = PlanNotes("line\n" * 1_000_000)
    assert len(notes.lines) == MOST_LINES
    assert not notes.whole


def test_the_plan_denied_last_in_the_same_session_is_the_one_compared_with() -> None:
    desk = PlayedDesk()
    for plan, verdict in (
        ("first", Verdict.DENY),
        ("second", Verdict.DENY),
        ("third", Verdict.ALLOW),
    ):
        reason = "no" if verdict is Verdict.DENY else ""
        desk.answer(asked(desk, plan), Decision(verdict, reason=reason))
    desk.answer(asked(desk, "of another", session_id="t"), Decision(Verdict.DENY, reason="no"))
    card = desk.card(asked(desk, "fourth"))
    assert card is not None
    assert denied_before(card, desk) == "second"


def test_a_plan_that_is_no_text_is_none() -> None:
    desk = PlayedDesk()
    desk.ask(call("ExitPlanMode", {"plan": ["x"]}))
    assert plan_of(desk.waiting()[0]) == ""
    assert Sitting(desk=desk).plan is None


def test_the_line_that_a_note_is_typed_about_stays_marked_in_view() -> None:
    sitting = Sitting()
    sitting.ask("ExitPlanMode", {"plan": PLAN}, hook_event_name="PermissionRequest")
    sitting.wait()
    sitting.press("l", "down", "c")
    sitting.type("only build")
    assert "▸│ 1. Delete everything" in sitting.text()


def test_many_empty_lines_on_end_are_a_mark_where_notes_are_made_too() -> None:
    sitting = Sitting(rows=24)
    asked(sitting.desk, "# Plan" + "\n" * 60 + "rm -rf ~\n\n\n\nend")
    sitting.wait()
    sitting.press("l")
    shown = sitting.text()
    assert "⟨59 empty lines⟩" in shown
    assert "rm -rf ~" in shown
    assert shown.count("empty lines") == 1  # three are shown as they are
    sitting.press("down", "c", "n", "o", "enter")
    assert "note: no" in sitting.text()


def test_a_digit_notes_a_label_while_nothing_is_typed() -> None:
    sitting = Sitting()
    asked(sitting.desk)
    sitting.wait()
    sitting.press("l", "down", "c")
    sitting.wait()
    assert "good as it is" in sitting.text()
    sitting.press("2")
    assert f"note: {LABELS[1]}" in sitting.text()
    sitting.press("c", "2", "enter")  # it has a text now, so a digit is a letter
    assert f"note: {LABELS[1]}2" in sitting.text()
