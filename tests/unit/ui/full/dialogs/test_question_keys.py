"""Answers are made in the form alone, and only to what can still be answered."""

from __future__ import annotations

from crabhook.model.actor import OrderKind
from crabhook.model.order import Order
from tests.support.sitting import QUESTIONS, Sitting


def test_a_number_pressed_in_the_queue_leads_into_the_form() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("2")
    assert "enter next" in sitting.help_line()
    assert "✓ pydantic" in sitting.text()


def test_the_last_question_leads_to_the_review_and_back() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("1", "enter", "enter")
    assert "these answers will be sent" in sitting.text()
    sitting.press("escape")
    assert "enter next" in sitting.help_line()


def test_questions_that_were_answered_already_are_only_shown() -> None:
    for name in ("PostToolUse", "PermissionDenied"):
        sitting = Sitting()
        sitting.desk.order(Order(OrderKind.HOLD, name))
        sitting.ask("AskUserQuestion", QUESTIONS, hook_event_name=name)
        sitting.wait()
        assert sitting.screen.form is None
        sitting.press("1", "o", "t")
        assert "enter open" in sitting.help_line()
        assert sitting.screen.focus.typing is None
