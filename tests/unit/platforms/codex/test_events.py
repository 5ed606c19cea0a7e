"""The table of events: what waits, what closes, what asks."""

import pytest

from crabhook.model.card import Stance
from crabhook.model.event import EndScope, Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.platforms.codex.events import EVENTS, asks, held
from crabhook.platforms.event_table import Held


def test_the_table_has_the_twelve_events_of_the_protocol() -> None:
    assert set(EVENTS) == {
        "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest",
        "PostToolUse", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop",
        "Interrupt",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "gate", "companion"),
    [
        ("PreToolUse", Held.ALWAYS, Held.BY_RULE),
        ("PermissionRequest", Held.ALWAYS, Held.ALWAYS),
        ("PostToolUse", Held.ON_REQUEST, Held.ON_REQUEST),
        ("Interrupt", Held.NEVER, Held.NEVER),
        ("Brand-New", Held.NEVER, Held.NEVER),
    ],
)
def test_what_waits_by_the_stance(name: str, gate: Held, companion: Held) -> None:
    event = Event("codex", name)
    assert held(event, Stance.GATE) is gate
    assert held(event, Stance.COMPANION) is companion


def test_what_can_be_held_has_something_to_be_told() -> None:
    assert set(PLATFORMS["codex"].holdable()) == {
        "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "SessionStart",
    }  # fmt: skip
    assert all(EVENTS[name].verdicts for name in PLATFORMS["codex"].holdable())


@pytest.mark.parametrize(
    ("name", "closes"),
    [
        ("PostToolUse", EndScope.RESULT),
        ("Interrupt", EndScope.AGENT),
        ("Stop", EndScope.AGENT),
        ("SessionEnd", EndScope.SESSION),
        ("PreToolUse", EndScope.NOTHING),
    ],
)
def test_what_an_event_tells_to_be_over(name: str, closes: EndScope) -> None:
    assert EVENTS[name].closes is closes


def test_only_questions_ask() -> None:
    assert asks(Event("codex", "PreToolUse", tool=ToolCall("request_user_input", {})))
    assert not asks(Event("codex", "PreToolUse", tool=ToolCall("Bash", {})))
    assert not asks(Event("codex", "Stop"))
