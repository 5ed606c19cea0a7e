"""The laws of the desk: nothing is approved by accident, and nothing that was read slides away."""

from __future__ import annotations

import pytest

from crabhook.model.decision import Verdict
from crabhook.ui.full.arming import BURST
from tests.support.sitting import LONG_ENOUGH, Sitting, call

AGAIN = {"hook_event_name": "PermissionRequest", "tool_use_id": "t1"}


# Arming.


@pytest.mark.parametrize("key", ["a", "n", "d", "h", "p"])
def test_a_key_pressed_before_its_card_was_in_view_long_enough_does_nothing(key: str) -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask()
    sitting.press(key)
    sitting.draw()
    sitting.desk.pass_time(0.1)
    sitting.press(key)
    assert sitting.line is None
    assert not sitting.decided()
    assert f"#{number} has only just come into view" in sitting.text()


def test_a_card_that_was_never_drawn_is_not_armed_however_long_it_waits() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.desk.pass_time(60)
    sitting.controller.press("a")
    assert not sitting.decided()


def test_a_card_in_view_long_enough_can_be_decided() -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask()
    sitting.wait()
    sitting.press("a")
    assert sitting.verdicts() == [(number, Verdict.ALLOW)]


def test_a_card_come_to_by_a_key_is_armed_anew() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    second = sitting.ask(session_id="other")
    sitting.wait(60)
    sitting.press("down", "a")
    assert not sitting.decided()
    sitting.wait()
    sitting.press("a")
    assert sitting.verdicts() == [(second, Verdict.ALLOW)]


def test_going_away_and_coming_back_arms_anew() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.ask(session_id="other")
    sitting.wait()
    sitting.press("down", "up", "a")
    assert not sitting.decided()


def test_the_help_page_hides_the_card_so_it_must_arm_anew() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.wait()
    sitting.press("?")
    sitting.wait(60)
    sitting.press("q", "a")
    assert not sitting.decided()


@pytest.mark.parametrize(("columns", "rows"), [(20, 24), (80, 5), (1, 1)])
def test_a_card_that_cannot_be_read_cannot_be_decided(columns: int, rows: int) -> None:
    sitting = Sitting(columns=columns, rows=rows, take_back_ms=0)
    sitting.ask()
    sitting.wait(60)
    sitting.press("a")
    assert not sitting.decided()


def test_a_card_that_gains_a_leg_is_armed_anew() -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask(tool_use_id="t1")
    sitting.wait()
    sitting.desk.ask(call(sandbox=False, **AGAIN))
    assert len(sitting.card.requests) == 2
    sitting.press("a")
    assert not sitting.decided()
    sitting.wait()
    sitting.press("a")
    assert sitting.verdicts() == [(number, Verdict.ALLOW)]


def test_the_rest_of_an_unknown_escape_sequence_is_no_answer() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.wait()
    sitting.burst("escape", "a")  # what Alt-a sends
    sitting.burst("escape", "[", "a")  # what some terminals send for Shift-Up
    assert not sitting.decided()
    sitting.wait()
    sitting.press("a")
    assert len(sitting.decided()) == 1


def test_pasted_letters_are_no_keys() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.wait()
    sitting.controller.paste("aaaa\n")
    assert not sitting.decided()


# The selection.


def test_the_first_card_is_selected_when_nothing_is() -> None:
    sitting = Sitting()
    assert sitting.screen.card is None
    number = sitting.ask()
    assert sitting.card.number == number


def test_a_screen_opened_late_selects_the_card_that_waits_longest() -> None:
    sitting = Sitting()
    first = sitting.ask()
    sitting.ask(session_id="other")
    sitting.sit()
    assert sitting.card.number == first


def test_new_cards_never_move_the_selection() -> None:
    sitting = Sitting()
    sitting.ask()
    second = sitting.ask(session_id="b")
    sitting.press("down")
    for number in range(50):
        sitting.ask(session_id=f"s{number}")
        assert sitting.card.number == second


def test_cards_that_end_above_never_move_the_selection() -> None:
    sitting = Sitting()
    first = sitting.ask()
    second = sitting.ask(session_id="b")
    sitting.ask(session_id="c")
    sitting.press("down")
    sitting.leave(first)
    assert sitting.card.number == second
    assert (
        next(row for row in sitting.rows_of_text() if "▸" in row or "▹" in row).split()[1] == "#2"
    )


def test_a_selected_card_that_ends_stays_with_its_outcome_until_the_operator_moves() -> None:
    sitting = Sitting(take_back_ms=0)
    first = sitting.ask()
    second = sitting.ask(session_id="b")
    sitting.wait()
    sitting.leave(first)
    assert sitting.card.number == first
    assert "WITHDRAWN" in sitting.rows_of_text()[2]
    assert "WITHDRAWN" in sitting.rows_of_text()[4]
    assert "ls -l" in sitting.text()
    sitting.press("a")
    assert not sitting.decided()
    assert "#1 has ended" in sitting.text()
    sitting.press("down")
    assert sitting.card.number == second
    assert "WITHDRAWN" not in "\n".join(sitting.rows_of_text()[:8])


def test_a_key_meant_for_a_card_that_just_ended_hits_no_other() -> None:
    sitting = Sitting(take_back_ms=0)
    first = sitting.ask()
    sitting.ask(session_id="b")
    sitting.wait(60)
    sitting.leave(first)
    sitting.press("a", "down", "a")
    assert not sitting.decided()


def test_after_an_answer_the_selection_stays_and_the_next_card_arms_anew() -> None:
    sitting = Sitting(take_back_ms=0)
    first = sitting.ask()
    sitting.ask(session_id="b")
    sitting.wait(60)
    sitting.press("a", "a", "a")
    assert sitting.verdicts() == [(first, Verdict.ALLOW)]
    assert sitting.card.number == first
    sitting.press("down", "a")
    assert len(sitting.decided()) == 1


def test_a_card_that_arrives_while_an_ended_one_is_read_takes_nothing() -> None:
    sitting = Sitting()
    first = sitting.ask()
    sitting.leave(first)
    sitting.ask(session_id="b")
    assert sitting.card.number == first


# Quitting.


def test_one_press_of_ctrl_c_only_tells_what_two_would_do() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.ask(session_id="b")
    sitting.press("c-c")
    assert not sitting.screen.done
    assert "Ctrl-C again to quit: 2 waiting requests will go back to the agents" in sitting.text()
    sitting.press("c-c")
    assert sitting.screen.done


def test_two_presses_far_apart_do_not_quit() -> None:
    sitting = Sitting()
    sitting.press("c-c")
    sitting.wait(3)
    sitting.press("c-c")
    assert not sitting.screen.done


def test_ctrl_c_is_heard_in_the_box_and_on_the_help_page() -> None:
    for key in ("d", "?"):
        sitting = Sitting()
        sitting.ask()
        sitting.wait()
        sitting.press(key, "c-c", "c-c")
        assert sitting.screen.done


def test_time_to_wake_is_when_something_happens_by_itself() -> None:
    sitting = Sitting()
    assert sitting.controller.wake_at() is None
    sitting.ask()
    sitting.draw()
    assert sitting.controller.wake_at() == pytest.approx(sitting.desk.now() + 0.4)
    sitting.wait(LONG_ENOUGH)
    assert sitting.controller.wake_at() is None
    sitting.press("a")
    assert sitting.controller.wake_at() == pytest.approx(sitting.desk.now() + 0.6)


@pytest.mark.parametrize("text", [" makes", "*akes", "&akes", "zsh", "+1"])
def test_the_first_key_of_a_paste_without_marks_marks_snoozes_and_extends_nothing(
    text: str,
) -> None:
    sitting = Sitting()
    sitting.desk.ask(call(), wait=600, limit=3600)
    sitting.wait()
    before = sitting.card
    sitting.burst(*("space" if letter == " " else letter for letter in text))
    sitting.wait()
    assert not sitting.screen.marks
    assert sitting.card == before
    assert "nothing was decided" in sitting.text()


def test_pasted_keys_decide_nothing_and_the_desk_says_so() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.burst("a", "enter")
    notice = "keys came all at once, as pasted text does: nothing was decided"
    assert sitting.screen.notice.text == notice
    assert notice in sitting.text()
    sitting.wait(LONG_ENOUGH)
    assert not sitting.decided()


def test_a_reason_that_is_pasted_with_its_enter_waits_for_another_enter() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("d")
    sitting.wait()
    sitting.burst(*"no", "enter")
    assert sitting.screen.notice.text == "that was pasted: press enter again to go on"
    sitting.wait(LONG_ENOUGH)
    assert not sitting.decided()
    sitting.press("enter")
    sitting.wait(LONG_ENOUGH)
    assert [decision.reason for _, decision in sitting.decided()] == ["no"]


def test_what_was_marked_before_a_paste_stays_marked_unless_it_has_changed() -> None:
    sitting = Sitting()
    first, second = sitting.ask(), sitting.ask(session_id="other")
    sitting.wait()
    sitting.press("space", "down", "space")
    sitting.burst("escape")
    sitting.press("space", "up", "space")
    sitting.leave(second)
    sitting.desk.pass_time(1)
    sitting.burst("*", "x")
    assert list(sitting.screen.marks) == [first]


@pytest.mark.parametrize(("key", "shown"), [("z", "aside"), ("+", "19:")])
def test_a_key_by_itself_snoozes_and_extends_a_moment_later(key: str, shown: str) -> None:
    sitting = Sitting(columns=120)
    sitting.desk.ask(call(), wait=600, limit=3600)
    sitting.wait()
    sitting.desk.pass_time(1)
    sitting.controller.press(key)
    assert shown not in sitting.text()
    assert sitting.controller.wake_at() == sitting.desk.now() + BURST
    sitting.wait(BURST)
    assert shown in sitting.text()
