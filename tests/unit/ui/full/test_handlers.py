"""What the keys do that no law of the screen is about."""

from __future__ import annotations

import ast
from dataclasses import is_dataclass
from inspect import getsource
from typing import TYPE_CHECKING

import pytest

from crabhook.desk.acts import Guard
from crabhook.desk.commands import Ask, EndOrders, Extend, Snooze
from crabhook.model.actor import OrderKind
from crabhook.model.decision import Verdict
from crabhook.model.order import Order
from crabhook.ui.full import controller
from crabhook.ui.full.dialog import Dialog, Go
from crabhook.ui.full.dialogs.card import TextPage
from crabhook.ui.full.effects import Give, GiveAll, Say, ScreenEffect, Submit, submit
from crabhook.ui.full.keys import KEYS
from tests.support.examples import share
from tests.support.rows import every_row
from tests.support.sitting import QUESTIONS, Sitting

if TYPE_CHECKING:
    from collections.abc import Callable

SENT = 1.0  # seconds after which an allow is no longer held
HARMLESS = (Ask, Extend, EndOrders)
"""Commands that a key submits at once."""
PLAN = {"plan": "# Steps\n\n1. one\n2. two"}


def decides(effect: ScreenEffect) -> bool:
    if isinstance(effect, Submit):
        return not isinstance(effect.command, HARMLESS)
    return isinstance(effect, Give | GiveAll)


def queue(sitting: Sitting) -> None:
    sitting.ask()


def request(sitting: Sitting) -> None:
    sitting.ask()
    sitting.wait()
    sitting.press("enter")


def questions(sitting: Sitting) -> None:
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("1")


def review(sitting: Sitting) -> None:
    questions(sitting)
    sitting.press("r")


def notes(sitting: Sitting) -> None:
    sitting.ask("ExitPlanMode", PLAN)
    sitting.wait()
    sitting.press("l")


def marked(sitting: Sitting) -> None:
    sitting.ask()
    sitting.ask(session_id="b")
    sitting.wait()
    sitting.press("space")


def box(sitting: Sitting) -> None:
    sitting.ask()
    sitting.wait()
    sitting.press("d")


def editor(sitting: Sitting) -> None:
    sitting.ask()
    sitting.wait()
    sitting.press("e", "x")


def held(sitting: Sitting) -> None:
    sitting.ask()
    sitting.wait()
    sitting.press("a")


def away(sitting: Sitting) -> None:
    sitting.ask()
    sitting.desk.order(Order(OrderKind.AWAY))


SITUATIONS = (queue, request, questions, review, notes, marked, box, editor, held, away)


@every_row("turn, begin", list(enumerate(SITUATIONS)))
def test_a_key_that_is_obeyed_at_once_decides_nothing(
    turn: int, begin: Callable[[Sitting], None]
) -> None:
    for row in share([row for row in KEYS if row.guard in (Guard.FREE, Guard.BEGIN)], turn):
        sitting = Sitting()
        begin(sitting)
        if row in sitting.top.rows():
            for name in row.keys:
                effects = row.do(sitting.top, name)
                assert not [effect for effect in effects or () if decides(effect)], row.does


@pytest.mark.parametrize("begin", [queue, questions, notes])
def test_a_key_that_waits_for_arming_does_nothing_to_a_card_that_has_just_come_into_view(
    begin: Callable[[Sitting], None],
) -> None:
    for row in (row for row in KEYS if row.guard in (Guard.ARMED, Guard.READ)):
        sitting = Sitting(take_back_ms=0, arming_ms=60_000)
        begin(sitting)
        if row in sitting.top.rows():
            keys, work = sitting.help_line(), repr(sitting.screen.work)
            sitting.press(row.keys[0])
            assert "only just come into view" in sitting.text(), row.does
            assert not sitting.decided()
            assert (sitting.help_line(), repr(sitting.screen.work)) == (keys, work)


def test_every_effect_is_performed() -> None:
    cases = (node for node in ast.walk(ast.parse(getsource(controller))))
    named = [ast.unparse(node.cls) for node in cases if isinstance(node, ast.MatchClass)]
    performed = [name.removeprefix("do.") for name in named]
    every = [one for one in ScreenEffect.__subclasses__() if is_dataclass(one) or one is Dialog]
    assert every
    assert {effect.__qualname__ for effect in every} == set(performed)


def test_an_effect_that_nothing_performs_is_a_fault() -> None:
    with pytest.raises(NotImplementedError, match="nothing performs"):
        Sitting().controller.perform((ScreenEffect(),))


def test_what_follows_a_command_that_the_desk_refuses_is_not_done() -> None:
    sitting = Sitting()
    number = sitting.ask()
    sitting.leave(number)
    then = Say("it is aside"), Go(TextPage)
    sitting.controller.perform((submit(Snooze(number, 1.0), *then),))
    sitting.wait()
    assert "it is aside" not in sitting.text()
    assert f"#{number}" in sitting.screen.notice.text
    assert "enter open" in sitting.help_line()


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
    assert "│ line-0-" not in "\n".join(sitting.rows_of_text()[6:])
    assert "line-2-" in sitting.text()
    sitting.press("up", "up")
    assert "│ line-0-" in "\n".join(sitting.rows_of_text()[6:])
    sitting.press("escape", "down")
    assert sitting.card.number == 2


def test_the_ends_of_a_request_are_a_key_away() -> None:
    sitting = long_request()
    sitting.press("enter", "G")
    assert "│ line-99-" in sitting.text()
    sitting.press("g")
    assert "│ line-0-" in "\n".join(sitting.rows_of_text()[6:])


def test_pages_turn_from_the_queue_as_well() -> None:
    sitting = long_request()
    sitting.press("pagedown")
    assert "│ line-0-" not in "\n".join(sitting.rows_of_text()[6:])
    sitting.press("pageup")
    assert "│ line-0-" in "\n".join(sitting.rows_of_text()[6:])


def test_a_decision_leads_back_to_the_queue() -> None:
    sitting = long_request()
    sitting.press("enter", "h")
    assert "enter open" in sitting.help_line()


def test_leaving_the_box_leads_back_to_where_it_was_opened() -> None:
    sitting = long_request()
    for way, named in (("escape", "enter open"), ("enter", "esc queue")):
        sitting.press(way)
        sitting.wait()
        sitting.press("d", "escape")
        assert named in sitting.help_line()


def test_space_on_the_rows_below_the_options_types() -> None:
    sitting = Sitting(rows=40)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("down", "down", "space")
    sitting.type("attrs it is")
    sitting.press("enter", "left", "down", "space")
    sitting.type("small")
    sitting.press("enter")
    form = sitting.form
    assert form is not None
    answer = form.answers()[0]
    assert (answer.words, answer.note) == ("attrs it is", "small")


def test_words_already_said_can_be_changed_and_emptied() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("o")
    sitting.type("abc")
    sitting.press("enter", "left", "o", "backspace", "enter", "left")
    form = sitting.form
    assert form is not None
    assert form.answers()[0].words == "ab"
    sitting.press("o", "c-u", "enter")
    assert not form.answers()


def test_a_number_without_an_option_chooses_nothing() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("9")
    form = sitting.form
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
    assert "these answers will be sent" in sitting.text()
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


def test_the_review_offers_no_copy_by_the_key_that_sends() -> None:
    sitting = asked()
    assert "y copy" in sitting.text()
    sitting.press("r")
    assert "everything it sent" in sitting.text()
    assert "y copy" not in sitting.text()


def test_questions_are_answerable_in_any_order() -> None:
    sitting = asked()
    sitting.press("right", "3", "left", "1", "r")
    sitting.wait()
    sitting.press("y")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.updated_input is not None
    assert decision.updated_input["answers"] == {
        "Which library?": "msgspec",
        "Which features?": "Cache",
    }


def test_enters_pressed_ahead_choose_and_stop_at_the_review() -> None:
    sitting = asked()
    sitting.stroke = 0.11
    sitting.press(*["enter"] * 8)
    sitting.wait(SENT)
    assert "these answers will be sent" in sitting.text()
    assert not sitting.decided()


def test_a_review_of_no_answers_sends_nothing_however_often_enter_is_pressed() -> None:
    sitting = asked()
    sitting.press("r")
    for _ in range(5):
        sitting.wait(SENT)
        sitting.press("enter")
    assert not sitting.decided()
    assert "nothing is answered yet" in sitting.text()


def test_enter_alone_answers_as_in_the_agents_own_dialog() -> None:
    sitting = asked()
    labels = []
    for _ in range(4):
        labels.append(sitting.top.enters)
        sitting.press("enter")
        sitting.wait(SENT)
    assert labels == ["choose, next question", "choose", "review", ""]
    assert "enter send" in sitting.help_line() or sitting.decided()
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.updated_input is not None
    assert decision.updated_input["answers"] == {
        "Which library?": "msgspec",
        "Which features?": "Retry",
    }


def test_enter_takes_no_choice_back() -> None:
    sitting = asked()
    sitting.press("2", "enter", "left", "enter", "left")
    assert sitting.form is not None
    assert sitting.form.draft.chosen == {1}


def test_an_allow_without_answers_carries_no_input_and_says_what_follows() -> None:
    sitting = asked()
    sitting.press("a")
    assert "the agent asks in its own dialog" in sitting.text()
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert (decision.verdict, decision.updated_input) == (Verdict.ALLOW, None)


def test_an_allow_with_answers_made_goes_to_the_review_and_loses_none() -> None:
    sitting = asked()
    sitting.press("1", "a")
    sitting.wait(SENT)
    assert "these answers will be sent" in sitting.text()
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
    assert sitting.form is not None
    assert not sitting.form.answers()
