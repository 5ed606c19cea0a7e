"""A form keeps every answer in the making, and sends what its review shows."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.errors import QuestionError
from crabhook.model.question import Answer, Option, Question
from crabhook.ui.full.dialogs.question import Form, read_form, tell
from tests.support.sitting import QUESTIONS, Sitting


def form() -> Form:
    return Form(QUESTIONS)


def test_where_one_answer_is_asked_for_a_choice_replaces_the_last() -> None:
    made = form()
    made.choose(0)
    made.choose(1)
    assert made.answers() == {0: Answer((1,))}
    made.choose(1)
    assert made.answers() == {}


def test_where_several_are_asked_for_choices_add_up_in_the_options_order() -> None:
    made = form()
    made.go(+1)
    made.choose(2)
    made.choose(0)
    assert made.answers() == {1: Answer((0, 2))}
    made.choose(2)
    assert made.answers() == {1: Answer((0,))}


def test_own_words_replace_a_single_choice_and_join_several() -> None:
    made = form()
    made.choose(0)
    made.say("attrs")
    assert made.answers()[0] == Answer(words="attrs")
    made.choose(1)
    assert made.answers()[0] == Answer((1,))
    made.go(+1)
    made.choose(0)
    made.say("Logging")
    assert made.answers()[1] == Answer((0,), words="Logging")


def test_words_of_blanks_alone_are_no_answer() -> None:
    made = form()
    made.choose(0)
    made.say("   ")
    assert made.answers()[0] == Answer((0,))


def test_an_option_that_is_not_there_changes_nothing() -> None:
    made = form()
    for option in (-1, 2, 99):
        made.choose(option)
    assert made.answers() == {}
    assert made.updated_input() is None


def test_a_note_alone_is_sent_beside_no_answer() -> None:
    made = form()
    made.note("not yet")
    updated = made.updated_input()
    assert updated is not None
    assert updated["annotations"] == {"Which library?": {"notes": "not yet"}}
    assert made.state(0) == "(a note, no answer)"


def test_the_whole_input_is_kept_and_the_chosen_preview_goes_along() -> None:
    made = form()
    made.choose(0)
    updated = made.updated_input()
    assert updated is not None
    assert updated["metadata"] == {"unknown": [1, 2]}
    assert updated["questions"] == QUESTIONS["questions"]


def test_questions_have_ends() -> None:
    made = form()
    made.go(-1)
    assert made.current == 0
    made.go(+9)
    assert made.current == 1


def test_the_rows_are_the_options_own_words_and_the_note() -> None:
    made = form()
    assert made.rows == 4
    made.move(+99)
    assert made.draft.cursor == 3
    made.move(-99)
    assert made.draft.cursor == 0


def test_each_question_says_how_it_stands() -> None:
    made = form()
    assert made.state(1) == ""
    made.go(+1)
    made.choose(0)
    made.choose(1)
    assert made.state(1) == 'Retry, "Red, green"'


def test_a_question_without_options_takes_own_words() -> None:
    made = Form({"questions": [{"question": "Name?", "kind": "text"}]})
    made.choose(0)
    made.say("crab")
    updated = made.updated_input()
    assert updated is not None
    assert updated["answers"] == {"Name?": "crab"}


@pytest.mark.parametrize("tool_input", [None, {}, {"questions": []}, {"questions": [{}]}])
def test_an_input_without_questions_is_an_error_in_words(tool_input: Any) -> None:
    with pytest.raises(QuestionError):
        Form(tool_input)


def test_an_answer_is_told_as_the_model_reads_it() -> None:
    question = Question("q", options=(Option("a, b"), Option("c")), several=True)
    assert tell(question, Answer((0, 1), words="d")) == '"a, b", c, d'


def test_forms_are_kept_by_card_until_they_are_forgotten() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    work = sitting.screen.work
    first = work.begun(sitting.card, read_form)
    assert isinstance(first, Form)
    first.choose(0)
    assert work.begun(sitting.card, read_form) is first
    work.forget(sitting.card.number)
    anew = work.begun(sitting.card, read_form)
    assert isinstance(anew, Form)
    assert anew.answers() == {}


def test_a_card_that_asks_nothing_has_neither_form_nor_error() -> None:
    sitting = Sitting()
    sitting.ask()
    assert read_form(sitting.card, sitting.screen.desk) is None
    assert sitting.form is None
    assert Sitting().form is None


def test_a_card_whose_questions_cannot_be_read_says_why() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", {"questions": 3})
    assert sitting.form is None
    error = read_form(sitting.card, sitting.screen.desk)
    assert isinstance(error, QuestionError)
    assert "questions" in str(error)
