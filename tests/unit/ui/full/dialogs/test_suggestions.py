"""From now on: the agent's own suggestion, kept where the operator says, sent as it came."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.decision import MODES, Decision, Verdict
from crabhook.ui.full.dialogs.decide import second_yes
from tests.support.sitting import Sitting

SENT = 1.0
RULE: dict[str, Any] = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "npm test *"}],
    "behavior": "allow",
    "destination": "localSettings",
    "unknown": {"kept": True},
}
OTHER = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def suggested(*updates: Any, **fields: Any) -> Sitting:
    sitting = Sitting(rows=40)
    sitting.ask(hook_event_name="PermissionRequest", permission_suggestions=list(updates), **fields)
    sitting.wait()
    return sitting


@pytest.mark.parametrize(
    ("key", "destination"),
    [
        ("1", "session"),
        ("2", "localSettings"),
        ("3", "projectSettings"),
        ("4", "userSettings"),
        ("enter", "localSettings"),  # where it was suggested to be kept
    ],
)
def test_a_suggestion_is_echoed_with_the_place_it_is_kept_in(key: str, destination: str) -> None:
    sitting = suggested(OTHER, RULE)
    sitting.press("2")
    assert "enter choose" in sitting.help_line()
    assert "npm test *" in sitting.text()
    sitting.wait()
    sitting.press(key)
    assert not sitting.decided()
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.verdict is Verdict.ALLOW
    assert decision.permissions == ({**RULE, "destination": destination},)


def test_two_quick_digits_keep_nothing() -> None:
    sitting = suggested(RULE)
    sitting.press("1", "1", "4", "enter")
    sitting.wait(SENT)
    assert not sitting.decided()
    assert "enter choose" in sitting.help_line()


def test_leaving_the_list_keeps_nothing() -> None:
    sitting = suggested(RULE)
    sitting.press("1")
    sitting.wait()
    sitting.press("escape")
    sitting.wait(SENT)
    assert not sitting.decided()
    assert "enter open" in sitting.help_line()


def test_a_suggestion_that_is_not_there_is_none() -> None:
    sitting = suggested(RULE)
    sitting.press("2")
    assert "enter open" in sitting.help_line()
    assert "no suggestion 2" in sitting.text()


def test_a_card_that_ends_under_the_list_is_not_decided() -> None:
    sitting = suggested(RULE)
    sitting.press("1")
    sitting.wait()
    sitting.leave(1)
    sitting.press("1")
    assert not sitting.decided()
    assert "#1 has ended" in sitting.text()


def test_without_suggestions_digits_do_nothing() -> None:
    for updates in ((), ("text", 7, None)):
        sitting = suggested(*updates)
        sitting.press("1")
        assert "enter open" in sitting.help_line()


def test_hostile_suggestions_are_shown_as_marks_and_sent_as_they_came() -> None:
    hostile = {"type": "\x1b[2J", "rules": "\u202e" * 50, "destination": {"x": 1}}
    sitting = suggested(hostile)
    sitting.press("1")
    shown = sitting.text()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    sitting.wait()
    sitting.press("1")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.permissions == ({**hostile, "destination": "session"},)


def test_a_mode_is_set_with_an_allow() -> None:
    sitting = suggested()
    sitting.press("M")
    sitting.wait()
    sitting.press("2")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.permissions == (
        {"type": "setMode", "mode": MODES[1], "destination": "session"},
    )


def with_danger(update: dict[str, object], **fields: object) -> Sitting:
    """Return a screen with a danger whose agent suggests to keep this from now on."""
    sitting = Sitting(columns=240, rows=40, take_back_ms=2000)
    command = {"command": "sudo systemctl restart nginx"}
    suggested = {"permission_suggestions": [update], **fields}
    sitting.ask(hook_event_name="PermissionRequest", tool_input=command, **suggested)
    sitting.wait()
    sitting.press("1")
    sitting.wait()
    sitting.press("1")
    return sitting


RULES = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "systemctl:*"}],
    "behavior": "allow",
    "destination": "localSettings",
}
MODE = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


@pytest.mark.parametrize(
    ("update", "lasts"),
    [
        (RULES, "ALLOW + KEPT BY CLAUDE: Bash(systemctl:*) in this session"),
        (MODE, "ALLOW + switches to acceptEdits"),
        (
            {"type": "addDirectories", "directories": ["/srv"], "destination": "session"},
            "ALLOW + KEPT BY CLAUDE: also work in /srv in this session",
        ),
    ],
)
def test_the_second_yes_says_that_the_yes_is_for_more_than_this_call(
    update: dict[str, object], lasts: str
) -> None:
    sitting = with_danger(update)
    line = " ".join(sitting.text().split())
    assert f"enter gives {lasts} · esc goes back" in line
    sitting.wait()
    sitting.press("enter")
    assert f"{lasts} in 5 s" in " ".join(sitting.text().split())


def test_a_mode_set_with_an_allow_is_told_while_it_counts_down() -> None:
    sitting = Sitting(columns=140, rows=40, take_back_ms=2000)
    sitting.ask(hook_event_name="PermissionRequest")
    sitting.wait()
    sitting.press("M")
    sitting.wait()
    sitting.press("2")
    assert "ALLOW + switches to acceptEdits in 2 s" in sitting.text()


def test_a_rule_of_ones_own_is_told_with_the_second_yes() -> None:
    sitting = Sitting(columns=140, rows=40)
    sitting.ask(tool_input={"command": "sudo systemctl restart nginx"})
    assert sitting.screen.card is not None
    allow = Decision(Verdict.ALLOW)
    said = second_yes(sitting.screen.card, allow, sitting.screen.desk, rule=True)
    assert "enter gives ALLOW + a RULE of yours for such calls" in said
