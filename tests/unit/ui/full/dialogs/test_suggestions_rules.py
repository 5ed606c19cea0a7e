"""Always allow: rules from narrow to wide, what each would have done, and nothing by a slip."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from crabhook.desk.updates import Offering
from crabhook.model.decision import Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.ui.full.panes.card import view_of
from tests.support.offering import BOTH, NARROW, WIDE, offer, offering
from tests.support.sitting import QUESTIONS, Sitting

SENT = 1.0  # seconds after which an allow is no longer held


def at_a_card(found: Offering | None = BOTH, **options: object) -> Sitting:
    sitting = Sitting(rows=40, **options)
    number = sitting.ask(tool_input={"command": "make"})
    sitting.desk.offered[number] = found
    sitting.wait()
    return sitting


def at_the_list(found: Offering | None = BOTH, **options: object) -> Sitting:
    sitting = at_a_card(found, **options)
    sitting.press("A")
    sitting.wait()
    return sitting


def test_rules_are_shown_from_narrow_to_wide_with_what_they_would_have_done() -> None:
    text = at_the_list().text()
    assert "until 2026-12-22" in text
    assert "tried on the last 412 calls" in " ".join(text.split())
    assert "▸ 1 covers 3: exactly `make`, in this project" in text
    assert "  2 covers 12: `make` with any arguments, in this project" in text
    assert "! would have let through 3 calls that were DENIED: make deploy" in text
    assert "│ allow Bash(make) · in project /work/app · until 2026-12-22" in text


def test_the_denied_calls_of_the_rule_one_stands_on_are_shown_and_are_safe() -> None:
    sitting = at_the_list()
    assert "│ make deploy" not in sitting.text()
    sitting.press("down")
    text = sitting.text()
    assert "│ make deploy  (2 times)" in text
    assert "make ␛[2J⟨U+202E⟩" in text
    red = [line for line in sitting.draw().lines if any("make deploy" in said for _, said in line)]
    assert all(any(style == "warning" for style, _ in line) for line in red)


def test_what_a_rule_gives_away_beside_is_said_in_red() -> None:
    sitting = at_the_list(offering(offer(gives_away=("with any arguments it takes -C",))))
    assert "! with any arguments it takes -C" in sitting.text()
    lines = [said for line in sitting.draw().lines for said in line if "takes -C" in said[1]]
    assert {style for style, _ in lines} == {"warning"}
    sitting.press("enter")
    sitting.wait(SENT)
    assert sitting.desk.rules  # it is no denial undone, and needs no second yes


@pytest.mark.parametrize("key", ["enter", "1"])
def test_a_rule_is_written_when_its_allow_is_sent(key: str) -> None:
    sitting = at_the_list()
    sitting.press(key)
    assert not sitting.desk.rules
    assert "ALLOW + RULE in " in sitting.text()
    sitting.wait(SENT)
    assert sitting.desk.rules == [(1, NARROW)]
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]
    assert "#1 ALLOWED, and the rule WRITTEN in ~/.config/crabhook/rules.toml" in sitting.text()
    assert "from now on: allow Bash(make)" in sitting.text()


def test_what_is_taken_back_was_never_written() -> None:
    sitting = at_the_list()
    sitting.press("1", "u")
    sitting.wait(SENT)
    assert not sitting.desk.rules
    assert not sitting.decided()


def test_a_rule_that_undoes_denials_is_taken_after_a_page_that_says_so() -> None:
    sitting = at_the_list()
    sitting.press("2")
    sitting.wait()
    assert "enter yes, exactly this" in sitting.help_line()
    assert "It would have let through 3 calls that were DENIED" in sitting.text()
    assert "make deploy  (2 times)" in sitting.text()
    sitting.press("escape")
    sitting.wait(SENT)
    assert not sitting.desk.rules
    sitting.press("A")
    sitting.wait()
    sitting.press("2")
    sitting.wait()
    sitting.press("y")
    sitting.wait(SENT)
    assert sitting.desk.rules == [(1, WIDE)]


def test_a_rule_that_undoes_a_denial_without_words_is_taken_after_a_page_all_the_same() -> None:
    denied = Event("claude", "PreToolUse", tool=ToolCall("Bash", {}))
    sitting = at_the_list(offering(replace(NARROW, undone=1, undoes=((denied, 1),))))
    sitting.press("1")
    sitting.wait(SENT)
    assert "It would have let through 1 call that was DENIED" in sitting.text()
    assert not sitting.desk.rules


def test_two_quick_keys_write_nothing() -> None:
    sitting = at_a_card()
    sitting.press("A", "1", "enter")
    sitting.wait(SENT)
    assert not sitting.desk.rules
    assert "enter choose" in sitting.help_line()


def test_the_end_is_changed_by_a_key_and_stays_on_its_row() -> None:
    sitting = at_the_list(offering(NARROW, NARROW))
    sitting.press("down", "e")
    sitting.wait()
    day = (datetime.now(UTC) + timedelta(days=1)).astimezone()
    assert f"until {day:%Y-%m-%d}" in sitting.text()
    sitting.press("e")
    sitting.wait()
    assert "for ever: rules from narrow to wide" in " ".join(sitting.text().split())
    assert "▸ 2 covers 3" in sitting.text()
    sitting.press("enter")
    sitting.wait(SENT)
    ((_, rule),) = sitting.desk.rules
    assert rule.expires is None
    again = at_the_list()
    again.press("e", "e", "e")
    again.wait()
    assert "until 2026-12-22" in again.text()


def test_a_list_that_has_just_changed_is_read_first() -> None:
    sitting = at_the_list()
    sitting.press("e", "1")
    sitting.wait(SENT)
    assert not sitting.desk.rules


def test_the_list_is_filled_when_the_rules_were_tried() -> None:
    sitting = at_the_list(None)
    assert "trying rules on what was decided before" in sitting.text()
    sitting.press("down", "1", "enter", "e")
    sitting.desk.offered[1] = BOTH
    sitting.wait(0.1)
    assert "▸ 1 covers 3" in sitting.text()
    sitting.press("1")
    assert "enter choose" in sitting.help_line()  # it has only just come into view
    sitting.wait()
    sitting.press("1")
    sitting.wait(SENT)
    assert len(sitting.desk.rules) == 1


def test_a_list_that_was_left_does_not_come_back() -> None:
    sitting = at_the_list(None)
    sitting.press("escape")
    sitting.desk.offered[1] = BOTH
    sitting.wait()
    assert "enter open" in sitting.help_line()
    assert sitting.controller.wake_at() is None
    sitting.press("1", "enter")
    sitting.wait(SENT)
    assert not sitting.desk.rules


@pytest.mark.parametrize("late", [True, False])
def test_where_nothing_is_offered_it_is_said_why(late: bool) -> None:
    none = Offering(why="no rule is made of \x1b[2J")
    sitting = at_the_list(None if late else none)
    if late:
        sitting.desk.offered[1] = none
        sitting.wait(0.1)
    assert "enter open" in sitting.help_line()
    assert "#1: no rule is offered. no rule is made of ␛[2J" in sitting.text()


def test_a_card_that_ends_meanwhile_gets_no_rule() -> None:
    sitting = at_the_list()
    sitting.leave(1)
    sitting.wait()
    sitting.press("1", "enter")
    sitting.wait(SENT)
    assert not sitting.desk.rules
    assert "#1 has ended" in sitting.text()


def test_a_message_to_the_user_goes_with_the_allow() -> None:
    sitting = at_a_card()
    sitting.press("m")
    sitting.type("fine")
    sitting.press("enter", "A")
    sitting.wait()
    sitting.press("1")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.user_message == "fine"


def test_many_denials_are_told_by_the_first_and_by_their_number() -> None:
    many = tuple(f"make {number}" for number in range(30))
    sitting = at_the_list(offering(offer(denied=many)), columns=100)
    sitting.press("G")
    assert "… and 10 more" in "".join(
        text
        for line in view_of(sitting.screen).rows(sitting.painter._sheet(100, roomy=True), 60)
        for _, text in line
    )


def test_what_no_rule_decides_has_no_such_key() -> None:
    for tool, tool_input in (("AskUserQuestion", QUESTIONS), ("ExitPlanMode", {"plan": "# A"})):
        sitting = Sitting(rows=40)
        sitting.ask(tool, tool_input)
        sitting.wait()
        sitting.press("A")
        assert not sitting.top.ASKS
