"""What the keys do that no law of the screen is about."""

from __future__ import annotations

from crabhook.model.decision import Verdict
from crabhook.ui.full.act import Act
from crabhook.ui.full.acts import TOUCHING
from crabhook.ui.full.filters import Mode
from tests.support.sitting import QUESTIONS, Sitting

SENT = 1.0  # seconds after which an allow is no longer held
HARMLESS = {
    Act.UP,
    Act.DOWN,
    Act.FIRST,
    Act.LAST,
    Act.PAGE_UP,
    Act.PAGE_DOWN,
    Act.OPEN,
    Act.BACK,
    Act.TAKE_BACK,
    Act.NEXT_QUESTION,
    Act.QUESTION_BEFORE,
    Act.QUESTION_AFTER,
    Act.REVIEW,
    Act.LEAVE_LINE,
    Act.EARLIER_LINE,
    Act.LATER_LINE,
    Act.HELP,
    Act.QUIT,
    Act.EXTEND,
    Act.FIELD_BEFORE,
    Act.FIELD_AFTER,
    Act.NOTE_LINES,
    Act.UNNOTE,
    Act.SEND_NOTES,
    Act.CHANGES,
    Act.BARE,
    Act.MARK,
    Act.MARK_ALIKE,
    Act.UNMARK_ALL,
    Act.TURN,
    # these only show what would be done, to be confirmed
    Act.ALLOW_MARKED,
    Act.DENY_MARKED,
    Act.HAND_BACK_MARKED,
    Act.PASS_MARKED,
    Act.COMPARE,
    Act.ORDERS,
    Act.GO_AWAY,
    Act.COME_BACK,
    Act.LEAVE_EDIT,
    Act.OUTSIDE_EDITOR,
}


def test_every_act_either_waits_for_arming_or_does_nothing_to_a_card() -> None:
    assert set(Act) == TOUCHING | HARMLESS
    assert not TOUCHING & HARMLESS


def long_request() -> Sitting:
    sitting = Sitting()
    sitting.ask(tool_input={"command": "\n".join(f"line-{number}-" for number in range(100))})
    sitting.wait()
    return sitting


def test_arrows_scroll_inside_a_request_and_choose_outside_of_it() -> None:
    sitting = long_request()
    sitting.ask(session_id="b")
    sitting.press("enter", "down", "down")
    assert sitting.card.number == 1
    assert "line-0-" not in "\n".join(sitting.rows_of_text()[8:])
    assert "line-2-" in sitting.text()
    sitting.press("up", "up")
    assert "line-0-" in "\n".join(sitting.rows_of_text()[8:])
    sitting.press("escape", "down")
    assert sitting.card.number == 2


def test_the_ends_of_a_request_are_a_key_away() -> None:
    sitting = long_request()
    sitting.press("enter", "G")
    assert "user: ann" in sitting.text()
    sitting.press("g")
    assert "line-0-" in "\n".join(sitting.rows_of_text()[8:])


def test_pages_turn_from_the_queue_as_well() -> None:
    sitting = long_request()
    sitting.press("pagedown")
    assert "line-0-" not in "\n".join(sitting.rows_of_text()[8:])
    sitting.press("pageup")
    assert "line-0-" in "\n".join(sitting.rows_of_text()[8:])


def test_a_decision_leads_back_to_the_queue() -> None:
    sitting = long_request()
    sitting.press("enter", "h")
    assert sitting.screen.mode is Mode.QUEUE


def test_leaving_the_box_leads_back_to_where_it_was_opened() -> None:
    sitting = long_request()
    for opened in (Mode.TEXT, Mode.QUEUE):
        sitting.screen.mode = opened
        sitting.wait()
        sitting.press("d", "escape")
        assert sitting.screen.mode is opened


def test_space_on_the_rows_below_the_options_types() -> None:
    sitting = Sitting(rows=40)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("enter", "down", "down", "space")
    sitting.type("attrs it is")
    sitting.press("enter", "down", "space")
    sitting.type("small")
    sitting.press("enter")
    form = sitting.screen.form
    assert form is not None
    answer = form.answers()[0]
    assert (answer.words, answer.note) == ("attrs it is", "small")


def test_words_already_said_can_be_changed_and_emptied() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("o")
    sitting.type("abc")
    sitting.press("enter", "o", "backspace", "enter")
    form = sitting.screen.form
    assert form is not None
    assert form.answers()[0].words == "ab"
    sitting.press("o", "c-u", "enter")
    assert not form.answers()


def test_a_number_without_an_option_chooses_nothing() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("9")
    form = sitting.screen.form
    assert form is not None
    assert not form.answers()


# Answering questions.


def asked() -> Sitting:
    sitting = Sitting(rows=40)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    return sitting


def test_answers_are_sent_merged_into_the_whole_input_after_review_and_moment() -> None:
    sitting = asked()
    sitting.press("2", "enter", "1", "2", "enter")
    assert sitting.screen.mode is Mode.REVIEW
    sitting.press("enter")
    sitting.wait(SENT)
    assert not sitting.decided()  # the review itself had to be in view first
    sitting.press("enter")
    assert not sitting.decided()  # and an allow is held
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.verdict is Verdict.ALLOW
    assert decision.updated_input == {
        **QUESTIONS,
        "answers": {"Which library?": "pydantic", "Which features?": 'Retry, "Red, green"'},
    }


def test_the_review_shows_exactly_what_is_sent() -> None:
    sitting = asked()
    sitting.press("2", "o")
    sitting.type("attrs")
    sitting.press("enter", "t")
    sitting.type("small")
    sitting.press("enter", "r")
    shown = sitting.text()
    assert "attrs" in shown
    assert "note: small" in shown
    assert "no answer" in shown
    assert "(x)" not in shown


def test_questions_are_answerable_in_any_order() -> None:
    sitting = asked()
    sitting.press("enter", "right", "3", "left", "1", "r")
    sitting.wait()
    sitting.press("y")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.updated_input is not None
    assert decision.updated_input["answers"] == {
        "Which library?": "msgspec",
        "Which features?": "Cache",
    }


def test_enter_alone_never_sends_anything() -> None:
    sitting = asked()
    for _ in range(10):
        sitting.press("enter")
        sitting.wait(SENT)
    assert not sitting.decided()
    assert "nothing is answered yet" in sitting.text()


def test_an_allow_without_answers_carries_no_input_and_says_what_follows() -> None:
    sitting = asked()
    sitting.press("a")
    assert "the agent shows its own dialog" in sitting.text()
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert (decision.verdict, decision.updated_input) == (Verdict.ALLOW, None)


def test_an_allow_with_answers_made_goes_to_the_review_and_loses_none() -> None:
    sitting = asked()
    sitting.press("1", "a")
    sitting.wait(SENT)
    assert sitting.screen.mode is Mode.REVIEW
    assert not sitting.decided()


def test_answers_wait_with_their_card_while_another_is_looked_at() -> None:
    sitting = asked()
    sitting.ask(session_id="b")
    sitting.press("2", "escape", "down", "up")
    assert "✓ pydantic" in sitting.text()


def test_answers_in_the_making_survive_news_and_die_with_their_card() -> None:
    sitting = asked()
    number = sitting.card.number
    sitting.press("2")
    sitting.ask(session_id="b")
    assert "✓ pydantic" in sitting.text()
    sitting.leave(number)
    sitting.press("1", "enter")
    assert "WITHDRAWN" in sitting.text()
    assert not sitting.decided()
    sitting.press("escape", "down")
    assert sitting.card.number != number


def test_questions_that_cannot_be_read_say_so_and_can_still_be_decided() -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask("AskUserQuestion", {"questions": "none"})
    sitting.wait()
    shown = sitting.text()
    assert "these questions cannot be read" in shown
    assert "questions: none" in shown
    sitting.press("a")
    assert sitting.verdicts() == [(number, Verdict.ALLOW)]


def test_digits_pressed_before_the_card_is_armed_choose_nothing() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.press("1")
    assert sitting.screen.form is not None
    assert not sitting.screen.form.answers()
