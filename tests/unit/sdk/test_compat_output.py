"""REQ-006.5 to 006.7: the output."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.sdk.compat import (
    EVENT_TO_NORMALIZED,
    NORMALIZED_TO_EVENT,
    HookOutput,
    NormalizedEvent,
    denormalize_output,
)
from crabhook.sdk.event import Platform
from tests.support.rows import every_row

CLAUDE, GEMINI, CODEX = SPECIFIED = tuple(EVENT_TO_NORMALIZED)
STOP, CALL = NormalizedEvent.AFTER_AGENT, NormalizedEvent.BEFORE_TOOL


def said(
    output: HookOutput, platform: Platform = CLAUDE, event: NormalizedEvent = CALL
) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(denormalize_output(output, platform, event))
    return read


def test_006_5_the_defaults_say_nothing() -> None:
    output = HookOutput()
    assert output.continue_loop is True
    assert output.suppress_output is False
    assert (output.decision, output.reason, output.context, output.stop_reason) == ("",) * 4
    assert output.raw_output == {}


@pytest.mark.parametrize("platform", SPECIFIED)
def test_006_5_an_empty_decision_has_no_key(platform: Platform) -> None:
    assert said(HookOutput(reason="why"), platform) == {"reason": "why"}


@pytest.mark.parametrize(
    ("decision", "platform", "word"),
    [
        ("block", GEMINI, "deny"),
        ("block", CLAUDE, "block"),
        ("block", CODEX, "block"),
        ("deny", GEMINI, "deny"),
        ("allow", GEMINI, "allow"),
        ("allow", CLAUDE, "allow"),
    ],
)
def test_006_5_block_is_deny_on_gemini_and_block_on_claude(
    decision: str, platform: Platform, word: str
) -> None:
    assert said(HookOutput(decision), platform) == {"decision": word}


def test_006_5_a_reason_is_said_when_it_is_not_empty() -> None:
    assert said(HookOutput("block", reason="no")) == {"decision": "block", "reason": "no"}
    assert "reason" not in said(HookOutput("block", reason=""))


def test_006_5_a_stop_reason_goes_with_an_end_of_the_loop_alone() -> None:
    assert said(HookOutput(continue_loop=False)) == {"continue": False}
    ended = said(HookOutput(continue_loop=False, stop_reason="enough"))
    assert ended == {"continue": False, "stopReason": "enough"}
    assert said(HookOutput(stop_reason="enough")) == {}


def test_006_5_output_is_suppressed_when_asked() -> None:
    assert said(HookOutput(suppress_output=True)) == {"suppressOutput": True}


@every_row("platform", [CLAUDE, CODEX])
@every_row("event", NormalizedEvent)
def test_006_6_context_on_claude_is_a_system_message_but_at_the_start(
    platform: Platform, event: NormalizedEvent
) -> None:
    expected: dict[str, Any] = {"systemMessage": "c"}
    if event is NormalizedEvent.SESSION_START:
        specific = {"hookEventName": "SessionStart", "additionalContext": "c"}
        expected = {"hookSpecificOutput": specific}
    assert said(HookOutput(context="c"), platform, event) == expected


@pytest.mark.parametrize("event", NormalizedEvent)
def test_006_6_context_on_gemini_is_additional_context_on_every_event(
    event: NormalizedEvent,
) -> None:
    specific = {"hookEventName": NORMALIZED_TO_EVENT[GEMINI][event], "additionalContext": "c"}
    assert said(HookOutput(context="c"), GEMINI, event) == {"hookSpecificOutput": specific}


@every_row("platform", SPECIFIED)
@every_row("event", NormalizedEvent)
def test_006_7_nothing_said_is_an_empty_object(platform: Platform, event: NormalizedEvent) -> None:
    assert denormalize_output(HookOutput(), platform, event) == "{}"


def test_006_7_raw_output_is_merged_and_never_overwrites() -> None:
    raw = {"decision": "approve", "terminalSequence": "x"}
    assert said(HookOutput("block", raw_output=raw)) == {
        "decision": "block",
        "terminalSequence": "x",
    }
    raw_context = {"hookSpecificOutput": {"additionalContext": "other", "sessionTitle": "t"}}
    merged = said(
        HookOutput(context="mine", raw_output=raw_context), event=NormalizedEvent.SESSION_START
    )
    assert merged["hookSpecificOutput"] == {
        "hookEventName": "SessionStart",
        "additionalContext": "mine",
        "sessionTitle": "t",
    }


KEYS = st.sampled_from(["decision", "reason", "continue", "systemMessage", "other"])


@given(st.dictionaries(KEYS, st.text()), st.text(), st.text(), st.text(), st.booleans())
def test_006_7_raw_output_changes_nothing_that_was_said(
    raw: dict[str, Any], decision: str, reason: str, context: str, loop: bool
) -> None:
    plain = HookOutput(decision, reason, context, loop)
    merged = said(HookOutput(decision, reason, context, loop, raw_output=raw))
    assert merged == raw | said(plain)


def test_006_7_raw_output_itself_is_left_as_it_is() -> None:
    raw = {"hookSpecificOutput": {"a": 1}}
    output = HookOutput(context="c", raw_output=raw)
    denormalize_output(output, CLAUDE, NormalizedEvent.SESSION_START)
    assert raw == {"hookSpecificOutput": {"a": 1}}
    assert said(HookOutput(raw_output=raw), CLAUDE, STOP) == raw
