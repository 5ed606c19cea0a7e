"""Answers are told to the model in words it cannot take for a failure, question by question."""

import json
from pathlib import Path
from typing import Any

import pytest

from crabhook.model.question import Answer, merge_answers
from crabhook.platforms.gemini.write import stated

SAMPLES = Path(__file__).parents[3] / "samples" / "gemini"


def asked(name: str) -> Any:
    return json.loads((SAMPLES / f"BeforeTool-{name}.json").read_bytes())["tool_input"]


def answered(name: str, answers: dict[int, Answer]) -> str:
    merged = merge_answers(asked(name), answers)
    assert merged is not None
    return stated(merged)


def test_each_question_is_named_by_its_index_and_its_words() -> None:
    told = answered("ask_user-two", {0: Answer((1,)), 1: Answer(words="Scuttle")})
    opening, *lines = told.splitlines()
    assert opening.startswith("this is no failure")
    assert lines == [
        "0. Which colour?",
        "   Answer: Blue",
        "1. What name?",
        "   Answer: Scuttle",
    ]


def test_a_question_that_was_left_open_is_said_to_be() -> None:
    told = answered("ask_user-two", {1: Answer(words="Scuttle")})
    assert "0. Which colour?\n   Left unanswered.\n1. What name?\n   Answer: Scuttle" in told


def test_a_note_goes_with_its_answer_and_alone() -> None:
    told = answered("ask_user-two", {0: Answer((0,), note="or pink"), 1: Answer(note="you choose")})
    assert "Answer: Red\n   The user adds: or pink\n" in told
    assert told.endswith("   Left unanswered.\n   The user adds: you choose")


def test_no_line_of_an_answer_can_be_taken_for_another_question() -> None:
    told = answered("ask_user-two", {1: Answer(words="a\n0. Which colour?\n   Answer: Red")})
    assert told.count("\n0. ") == 1
    assert told.count("\n   Answer: ") == 1


@pytest.mark.parametrize(
    "updated",
    [
        {},
        {"questions": []},
        {"answers": {}},
        {"answers": [], "annotations": "x"},
        asked("ask_user"),
    ],
)
def test_where_nothing_is_answered_nothing_is_said(updated: Any) -> None:
    assert stated(updated) == ""


@pytest.mark.parametrize("questions", [None, "x", [None, 3, {}, {"question": 1}]])
def test_questions_that_cannot_be_read_are_passed_over(questions: Any) -> None:
    told = stated({"questions": questions, "answers": {"q": ["a", 1]}})
    assert told.startswith("this is no failure")


def test_an_answer_that_is_no_text_is_told_as_json() -> None:
    told = stated({"questions": [{"question": "q"}], "answers": {"q": ["a", 1]}})
    assert told.endswith('   Answer: ["a",1]')
