"""Answers are made in the form alone, and only to what can still be answered."""

from __future__ import annotations

from crabhook.model.actor import OrderKind
from crabhook.model.order import Order
from crabhook.ui.full.filters import Mode
from tests.support.sitting import QUESTIONS, Sitting


def test_a_number_pressed_in_the_queue_leads_into_the_form() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("2")
    assert sitting.screen.focus.mode is Mode.FORM
    assert "✓ pydantic" in sitting.text()


def test_the_last_question_leads_to_the_review_and_back() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("1", "enter", "enter")
    assert sitting.screen.focus.mode is Mode.REVIEW
    sitting.press("escape")
    assert sitting.screen.focus.mode is Mode.FORM


def test_questions_that_were_answered_already_are_only_shown() -> None:
    for name in ("PostToolUse", "PermissionDenied"):
        sitting = Sitting()
        sitting.desk.order(Order(OrderKind.HOLD, name))
        sitting.ask("AskUserQuestion", QUESTIONS, hook_event_name=name)
        sitting.wait()
        assert sitting.screen.form is None
        sitting.press("1", "o", "t")
        assert sitting.screen.focus.mode is Mode.QUEUE
        assert sitting.screen.focus.typing is None
