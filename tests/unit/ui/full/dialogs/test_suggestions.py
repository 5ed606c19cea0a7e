"""From now on: the agent's own suggestion, kept where the operator says, sent as it came."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.decision import MODES, Verdict
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
