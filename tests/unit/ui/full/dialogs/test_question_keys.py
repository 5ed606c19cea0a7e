"""Answers are made in the form alone, and only to what can still be answered."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.actor import OrderKind
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from tests.support.sitting import QUESTIONS, Sitting, call


def test_a_number_pressed_in_the_queue_leads_into_the_form() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("2")
    assert "enter next question" in sitting.help_line()
    assert "✓ pydantic" in sitting.text()


def test_the_last_question_leads_to_the_review_and_back() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("1", "enter", "2", "enter")
    assert "these answers will be sent" in sitting.text()
    sitting.press("escape")
    assert "enter review" in sitting.help_line()


def test_questions_that_were_answered_already_are_only_shown() -> None:
    for name in ("PostToolUse", "PermissionDenied"):
        sitting = Sitting()
        sitting.desk.order(Order(OrderKind.HOLD, name))
        sitting.ask("AskUserQuestion", QUESTIONS, hook_event_name=name)
        sitting.wait()
        assert sitting.form is None
        sitting.press("1", "o", "t")
        assert "enter open" in sitting.help_line()
        assert sitting.line is None


@pytest.mark.parametrize(
    ("tool", "tool_input", "keys", "word"),
    [
        ("AskUserQuestion", QUESTIONS, ["1", "r", "enter"], "ANSWERED"),
        ("AskUserQuestion", QUESTIONS, ["a"], "LEFT TO ITS DIALOG"),
        ("ExitPlanMode", {"plan": "# one"}, ["a"], "APPROVED"),
        ("ExitPlanMode", {"plan": "# one"}, ["d", "x", "enter"], "SENT BACK"),
    ],
    ids=["answered", "left to the agent", "approved", "sent back"],
)
def test_an_answer_and_a_plan_end_in_words_of_their_own(
    tool: str, tool_input: Any, keys: list[str], word: str
) -> None:
    sitting = Sitting(columns=120, rows=40, take_back_ms=0)
    name = sitting.desk.ask(call(tool, tool_input))
    for key in keys:
        sitting.wait()
        sitting.press(key)
    sitting.wait()
    sitting.desk.deliver(name)
    text = sitting.text()
    assert text.count(word) >= 3  # in the queue, on the card, in what went by
    others = {"ANSWERED", "ALLOWED", "APPROVED", "DENIED", "SENT BACK"} - {word}
    assert not [one for one in others if one in text]


def answered() -> Sitting:
    """Return a screen whose questions are answered, the second by words, the answer held."""
    sitting = Sitting(columns=100, rows=40, take_back_ms=2000)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("1", "enter", "1", "2", "enter")
    sitting.wait()
    sitting.press("enter")
    assert "ANSWER in" in sitting.text()
    return sitting


def test_the_answers_are_shown_while_they_can_be_taken_back_and_after() -> None:
    sitting = answered()
    held = sitting.text()
    for said in ("these answers will be sent:", "Which library?", "msgspec", "Retry"):
        assert said in held
    assert "Cache" not in held, "the form of the last question"
    sitting.wait(2.5)
    after = sitting.text()
    for said in ("these answers were given:", "Which library?", "msgspec", "Retry"):
        assert said in after
    assert "will be sent" not in after


def test_answers_that_were_taken_back_are_a_form_again() -> None:
    sitting = answered()
    sitting.press("u")
    assert "will be sent" not in sitting.text()
    assert "Cache" in sitting.text()


def test_the_answers_of_another_desk_are_shown_once_they_are_given() -> None:
    sitting = Sitting(columns=100, rows=40)
    number = sitting.ask("AskUserQuestion", QUESTIONS)
    given = {**QUESTIONS, "answers": {"Which library?": "neither\x1b[2J"}}
    sitting.desk.answer(number, Decision(Verdict.ALLOW, updated_input=given))
    assert "these answers were given:" in sitting.text()
    assert "neither␛[2J" in sitting.text()
