"""A digit that chose nothing is told, and enter does not choose another row in its place."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.decision import Verdict
from crabhook.ui.full.dialogs.card import FormPage
from crabhook.ui.full.dialogs.prompts import Menu
from tests.support.offering import BOTH, NARROW, WIDE
from tests.support.sitting import QUESTIONS, Sitting

SUGGESTED = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}],
        "behavior": "allow",
        "destination": "localSettings",
    }
]


def sitting_at(**card: Any) -> Sitting:
    sitting = Sitting(take_back_ms=2000, advance=True, arming_ms=400)
    number = sitting.ask(**card)
    sitting.desk.offered[number] = BOTH
    sitting.wait()
    return sitting


def test_a_digit_before_a_list_is_armed_is_refused_and_enter_takes_no_other_rule() -> None:
    sitting = sitting_at()
    sitting.press("A", "2")
    assert "only just come into view" in sitting.screen.notice.text
    sitting.wait()
    sitting.press("enter")
    assert "2 chose nothing, so enter waits: press 2 again" in sitting.screen.notice.text
    sitting.wait(9)
    assert not sitting.decided()
    sitting.press("2")  # whose page says what it would have let through
    assert WIDE.texts[0] in sitting.text()
    sitting.wait()
    sitting.press("enter")
    sitting.wait(9)
    assert [offer for _, offer in sitting.desk.rules] == [WIDE]


def test_a_digit_before_the_rules_have_come_is_refused_too() -> None:
    sitting = sitting_at()
    sitting.desk.offered[1] = None  # they are still being tried
    sitting.press("A")
    sitting.wait()
    sitting.press("2")
    assert "2 chose nothing: there is nothing to choose from yet" in sitting.screen.notice.text
    sitting.desk.offered[1] = BOTH
    sitting.wait()
    sitting.press("enter")
    assert "enter waits" in sitting.screen.notice.text
    sitting.press("e")
    sitting.wait()
    sitting.press("enter")  # which changes how long, and not which
    assert "enter waits" in sitting.screen.notice.text
    sitting.wait(9)
    assert not sitting.decided()


def test_a_row_that_is_chosen_by_moving_is_taken() -> None:
    sitting = sitting_at()
    sitting.press("A", "2")
    sitting.wait()
    sitting.press("down", "up", "enter")
    sitting.wait(9)
    assert [offer for _, offer in sitting.desk.rules] == [NARROW]


def test_a_digit_of_no_row_is_told_and_enter_waits() -> None:
    sitting = sitting_at()
    sitting.press("A")
    sitting.wait()
    sitting.press("7", "enter")
    assert "enter waits" in sitting.screen.notice.text
    assert isinstance(sitting.top, Menu)


@pytest.mark.parametrize("key", ["enter", "space"])
def test_in_a_form_no_other_option_is_chosen(key: str) -> None:
    sitting = Sitting(take_back_ms=2000, advance=True, arming_ms=400)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.draw()
    assert isinstance(sitting.top, FormPage)
    sitting.press("2")
    assert "only just come into view" in sitting.screen.notice.text
    sitting.wait()
    sitting.press(key)
    assert sitting.form is not None
    assert not sitting.form.answers()
    sitting.press("2")
    assert sitting.form.draft.chosen == {1}


def test_a_reason_is_not_left_out_where_its_digit_came_too_early() -> None:
    sitting = Sitting(take_back_ms=2000, advance=True, reasons=("too wide", "use npm ci"))
    sitting.ask()
    sitting.wait()
    sitting.stroke = 0.05
    sitting.press("2", "2", "2")
    sitting.stroke = 0.125
    sitting.press("d")
    sitting.stroke = 0.05
    sitting.press("2", "2")
    sitting.wait(9)
    assert [decision.reason for _, decision in sitting.decided()] in ([], ["use npm ci"])


def test_digits_that_were_pasted_leave_enter_waiting() -> None:
    sitting = sitting_at()
    sitting.press("A")
    sitting.wait()
    sitting.burst("2", "enter")
    assert "nothing was decided" in sitting.screen.notice.text
    sitting.wait()
    sitting.press("enter")
    assert "enter waits" in sitting.screen.notice.text
    sitting.wait(9)
    assert not sitting.decided()


def test_the_place_of_a_suggestion_is_not_another_than_was_pressed() -> None:
    sitting = sitting_at(hook_event_name="PermissionRequest", permission_suggestions=SUGGESTED)
    sitting.press("1", "4")
    sitting.wait()
    sitting.press("enter")
    sitting.wait(9)
    assert not sitting.decided()
    sitting.press("4")
    sitting.wait(9)
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]
    assert sitting.decided()[0][1].permissions[0]["destination"] == "userSettings"
