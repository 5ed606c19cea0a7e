"""Always deny: deny now and by a rule, which is confirmed with what it would have denied."""

from __future__ import annotations

import pytest

from crabhook.desk.updates import Offering
from crabhook.model.decision import Verdict
from crabhook.ui.commands.decide import NO_REASON
from tests.support.offering import BOTH, DENIALS, denial, offering
from tests.support.sitting import QUESTIONS, Sitting

SENT = 1.0  # seconds after which an answer is no longer held
NARROW, WIDE = DENIALS.offers


def at_a_card(found: Offering | None = DENIALS, **options: object) -> Sitting:
    sitting = Sitting(rows=40, **options)
    number = sitting.ask(tool_input={"command": "make"})
    sitting.desk.denials[number] = found
    sitting.desk.offered[number] = BOTH
    sitting.wait()
    return sitting


def at_the_list(found: Offering | None = DENIALS, **options: object) -> Sitting:
    sitting = at_a_card(found, **options)
    sitting.press("N")
    sitting.wait()
    return sitting


def at_the_page(row: str = "1", reason: str = "not from here", **options: object) -> Sitting:
    sitting = at_the_list(**options)
    sitting.press(row)
    sitting.wait()
    sitting.type(reason)
    sitting.press("enter")
    sitting.wait()
    return sitting


def words(sitting: Sitting) -> str:
    return " ".join(sitting.text().split())


def test_the_rules_that_deny_are_shown_with_what_each_would_have_denied() -> None:
    text = at_the_list().text()
    assert "always deny what #1 asks, until 2026-12-22" in text
    assert "▸ 1 would have denied 3: exactly `make`, in this project" in text
    assert "  2 would have denied 12: `make` with any arguments, in this project" in text
    assert "! would have denied 3 calls that were ALLOWED: make test" in text
    assert "│ deny Bash(make) · in project /work/app · until 2026-12-22" in text


def test_no_rule_that_denies_is_written_without_a_page_that_shows_it() -> None:
    sitting = at_the_page()
    assert "enter yes, exactly this" in sitting.help_line()
    assert "ALWAYS DENY by this rule" in sitting.text()
    assert "deny Bash(make) · in project /work/app" in sitting.text()
    assert "It would have denied 3 past calls." in sitting.text()
    assert "not from here" in sitting.text()
    sitting.wait(SENT)
    assert not sitting.desk.rules
    assert not sitting.decided()


def test_the_page_shows_which_allowed_calls_the_rule_would_have_denied() -> None:
    sitting = at_the_page("2")
    assert "It would have denied 3 calls that were ALLOWED" in sitting.text()
    assert "make test  (2 times)" in sitting.text()
    assert "make ␛[2J⟨U+202E⟩" in sitting.text()


@pytest.mark.parametrize(("row", "rule"), [("1", NARROW), ("2", WIDE)])
def test_a_yes_denies_the_call_and_writes_the_rule(row: str, rule: object) -> None:
    sitting = at_the_page(row)
    sitting.press("y")
    assert "DENY + RULE" in sitting.text()
    sitting.wait(SENT)
    assert sitting.desk.rules == [(1, rule)]
    assert sitting.desk.read.reasons == ["not from here"]
    ((_, decision),) = sitting.decided()
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "not from here")
    assert "#1 DENIED, and the rule WRITTEN in ~/.config/crabhook/rules.toml" in sitting.text()
    assert "from now on: deny Bash(make" in sitting.text()


def test_what_is_taken_back_denies_nothing_and_was_never_written() -> None:
    sitting = at_the_page()
    sitting.press("y", "u")
    sitting.wait(SENT)
    assert not sitting.desk.rules
    assert not sitting.decided()


@pytest.mark.parametrize("left", ["N", "list", "line", "page"])
def test_leaving_at_any_step_denies_nothing(left: str) -> None:
    sitting = at_a_card()
    if left != "N":
        sitting = at_the_page() if left == "page" else at_the_list()
    if left == "line":
        sitting.press("1")
        sitting.type("no")
    for _ in range(3):
        sitting.press("escape")
        sitting.wait()
    sitting.press("y")
    sitting.wait(SENT)
    assert not sitting.desk.rules
    assert not sitting.decided()


def test_a_denial_without_a_reason_says_that_there_is_none() -> None:
    sitting = at_the_page(reason="")
    sitting.press("y")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.reason == NO_REASON


def test_a_denial_is_not_hidden_by_a_request_that_was_not_read() -> None:
    sitting = Sitting(rows=24)
    number = sitting.ask(tool_input={"command": "make\n" * 400})
    sitting.desk.denials[number] = DENIALS
    sitting.wait()
    sitting.press("A")
    assert "more lines" in words(sitting)
    sitting.wait()
    sitting.press("N")
    sitting.wait()
    assert "always deny what #1 asks" in sitting.text()


def test_keys_all_at_once_write_no_rule() -> None:
    sitting = at_a_card()
    sitting.press("N", "1", "enter", "y")
    sitting.wait(SENT)
    assert not sitting.desk.rules
    assert not sitting.decided()


def test_it_takes_the_place_of_an_allow_that_is_held() -> None:
    sitting = at_a_card()
    sitting.press("a")
    sitting.wait(0.2)
    sitting.press("N")
    sitting.wait(SENT)
    assert not sitting.decided()
    assert "always deny what #1 asks" in sitting.text()


def test_the_rules_of_always_allow_are_others() -> None:
    sitting = at_a_card()
    sitting.press("A")
    sitting.wait()
    assert "always allow what #1 asks" in sitting.text()
    assert "covers 3: exactly `make`" in sitting.text()


def test_a_server_that_offers_no_denials_is_said_to_offer_none() -> None:
    sitting = at_the_list(Offering(why="no rule can be written that speaks of just this"))
    assert "#1: no rule is offered. no rule can be written" in words(sitting)
    assert not sitting.decided()


def test_a_card_that_ends_meanwhile_gets_no_rule() -> None:
    sitting = at_the_page()
    sitting.leave(1)
    sitting.wait()
    sitting.press("y")
    sitting.wait(SENT)
    assert not sitting.desk.rules
    assert "#1 has ended" in sitting.text()


def test_a_rule_that_undoes_nothing_wants_a_yes_all_the_same() -> None:
    sitting = at_the_list(offering(denial()))
    sitting.press("1")
    sitting.wait()
    sitting.press("enter")
    sitting.wait(SENT)
    assert "It would have denied 0 past calls." in sitting.text()
    assert not sitting.desk.rules


def test_what_no_rule_decides_has_no_such_key() -> None:
    for tool, tool_input in (("AskUserQuestion", QUESTIONS), ("ExitPlanMode", {"plan": "# A"})):
        sitting = Sitting(rows=40)
        sitting.ask(tool, tool_input)
        sitting.wait()
        sitting.press("N")
        assert not sitting.top.ASKS
