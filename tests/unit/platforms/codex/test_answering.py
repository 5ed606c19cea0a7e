"""Answers in words, for an agent that takes them no other way."""

from typing import Any

import pytest

from crabhook.model.errors import QuestionError
from crabhook.model.question import Answer, merge_answers
from crabhook.platforms.common import TAKEN, stated

ASKED: dict[str, Any] = {
    "questions": [
        {"id": "a", "question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {"id": "b", "question": 'What "name"?', "options": []},
    ]
}


def test_every_question_is_told_with_its_answer_and_note() -> None:
    merged = merge_answers(ASKED, {0: Answer((1,), note="bright"), 1: Answer(words='"Crab"\nHook')})
    told = stated(merged, TAKEN)
    assert '"Which colour?" = "Blue"\n  note: "bright"\n' in told
    assert told.endswith('"What \\"name\\"?" = "\\"Crab\\"\\nHook"')


def test_what_was_left_open_is_said_to_be() -> None:
    told = stated(merge_answers(ASKED, {1: Answer(words="Crab")}), TAKEN)
    assert '"Which colour?" = (not answered)' in told


def test_an_answer_in_the_words_for_no_answer_is_still_one() -> None:
    assert stated(merge_answers(ASKED, {1: Answer(words="(not answered)")}), TAKEN)


def test_a_note_alone_is_told() -> None:
    assert 'note: "ask me\\nlater"' in stated(
        merge_answers(ASKED, {0: Answer(note="ask me\nlater")}), TAKEN
    )


@pytest.mark.parametrize("beside", [{}, {"answers": 7}, {"answers": {"Which colour?": 7}}])
def test_without_an_answer_there_is_nothing_to_tell(beside: dict[str, Any]) -> None:
    assert stated(ASKED | beside, TAKEN) == ""


@pytest.mark.parametrize("odd", [None, {}, {"questions": []}])
def test_what_asks_nothing_is_refused(odd: Any) -> None:
    with pytest.raises(QuestionError):
        stated(odd, TAKEN)
