"""From an input to what is printed; what a failing handler means is the author's to choose."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.sdk import (
    EVENTS,
    Answer,
    Event,
    Platform,
    PreToolUse,
    Reply,
    Stop,
    Unknown,
    on,
    respond,
    running,
)
from tests.support.rows import every_row
from tests.unit.sdk import samples

CALL = samples.text("claude", "PreToolUse-Bash").encode()


@on(Event)
def failing(event: Event) -> Answer | None:
    raise ValueError(f"cannot look at {event.cwd}")


@on(PreToolUse)
def denying(event: PreToolUse) -> Answer | None:
    return event.deny("no")


@on(PreToolUse)
def allowing(event: PreToolUse) -> Answer | None:
    return event.allow()


@on(Event)
def silent(_: Event) -> Answer | None:
    return None


def said(reply: Reply) -> dict[str, Any]:
    """What hookSpecificOutput says."""
    specific = (reply.output or {})["hookSpecificOutput"]
    assert isinstance(specific, dict)
    return specific


def test_a_handler_is_given_the_events_of_its_kind() -> None:
    assert said(respond(CALL, denying))["permissionDecision"] == "deny"
    assert respond(samples.text("claude", "Stop").encode(), denying) == Reply()


def test_a_handler_called_by_hand_is_its_function() -> None:
    event = samples.event("claude", "PreToolUse-Bash")
    assert isinstance(event, PreToolUse)
    assert denying(event) == event.deny("no")
    assert denying.kind is PreToolUse
    assert "denying" in repr(denying)
    assert isinstance(denying, running.Handler)


def test_the_first_answer_counts_and_no_handler_is_called_after_it() -> None:
    assert said(respond(CALL, silent, denying, allowing, failing))["permissionDecision"] == "deny"
    assert said(respond(CALL, allowing, denying))["permissionDecision"] == "allow"
    assert respond(CALL, silent) == Reply()
    assert respond(CALL) == Reply()


@every_row("platform, name", samples.ALL)
def test_006_10_every_recorded_input_is_passed_with_no_opinion(platform: str, name: str) -> None:
    reply = respond(samples.text(platform, name).encode(), silent)
    assert reply == Reply({} if platform == "gemini" else None)


@every_row("on_error", ["pass", "deny"])
@every_row("platform, name", samples.ALL)
def test_006_9_a_failing_hook_never_sends_an_agent_round_in_circles(
    platform: str, name: str, on_error: Any
) -> None:
    reply = respond(samples.text(platform, name).encode(), failing, on_error=on_error)
    event = samples.event(platform, name)
    assert "cannot look at" in reply.stderr
    refused = on_error == "deny" and event.refusal("") is not None
    # For Copilot any other code than 0 denies.
    assert reply.exit_code == (0 if refused or platform == "copilot" else 1)
    if not refused:
        assert set(reply.output or {}) <= {"systemMessage"}
    if isinstance(event, Stop):
        assert not refused


@pytest.mark.parametrize(
    ("platform", "name", "decision"),
    [
        ("claude", "PreToolUse-Bash", ("permissionDecision", "deny")),
        ("codex", "PreToolUse-Bash", ("permissionDecision", "deny")),
        ("claude", "PermissionRequest-Bash", ("decision", "deny")),
        ("claude", "UserPromptSubmit", ("decision", "block")),
        ("gemini", "BeforeTool-run_shell_command", ("decision", "deny")),
        ("gemini", "BeforeAgent", ("decision", "deny")),
        ("claude", "Elicitation", ("action", "decline")),
    ],
)
def test_006_9_a_failing_hook_that_was_told_to_deny_refuses_what_has_not_happened(
    platform: str, name: str, decision: tuple[str, str]
) -> None:
    reply = respond(samples.text(platform, name).encode(), failing, on_error="deny")
    printed = json.dumps(reply.output)
    key, word = decision
    assert f'"{key}": "{word}"' in printed or f'"{key}": {{"behavior": "{word}"' in printed
    assert reply.exit_code == 0


def test_006_9_the_traceback_begins_in_the_authors_own_code() -> None:
    reply = respond(CALL, failing)
    frames = [line for line in reply.stderr.splitlines() if line.startswith("  File ")]
    assert len(frames) == 1
    assert __file__ in frames[0]
    assert (
        "a hook failed on PreToolUse: ValueError: cannot look at /home/dev/project" in reply.stderr
    )


def test_006_9_gemini_shows_its_user_that_a_hook_failed() -> None:
    reply = respond(samples.text("gemini", "AfterAgent").encode(), failing)
    assert "ValueError" in str((reply.output or {})["systemMessage"])
    assert "decision" not in (reply.output or {})


@on(PreToolUse)
def leaving(_: PreToolUse) -> Answer | None:
    sys.exit(0)


@on(PreToolUse)
def careless(_: PreToolUse) -> Any:
    return True


@on(PreToolUse)
def unwritable(event: PreToolUse) -> Answer | None:
    return event.rewrite({"command": object()})  # type: ignore[dict-item]


def undecorated(_: PreToolUse) -> Answer | None:
    return None


@pytest.mark.parametrize("wrong", [leaving, careless, undecorated])
def test_a_handler_that_leaves_or_returns_no_answer_has_failed(wrong: Any) -> None:
    assert said(respond(CALL, wrong, on_error="deny"))["permissionDecision"] == "deny"
    opened = respond(CALL, wrong)
    assert (opened.output, opened.exit_code) == (None, 1)


def test_an_input_that_is_no_json_has_failed() -> None:
    assert said(respond(CALL, unwritable, on_error="deny"))["permissionDecision"] == "deny"
    assert respond(CALL, unwritable).exit_code == 1


@pytest.mark.parametrize("on_error", ["pass", "deny"])
def test_006_4_an_unknown_event_reaches_its_handler_and_is_never_answered(on_error: Any) -> None:
    raw = {"hook_event_name": "Teleport", "beam": 1}
    seen: list[Unknown] = []

    @on(Unknown)
    def looking(event: Unknown) -> Answer | None:
        seen.append(event)
        return Answer(context="x") if on_error == "deny" else None

    reply = respond(raw, looking, on_error=on_error)
    assert seen[0].raw == raw
    assert reply.output is None
    assert respond(raw | {"timestamp": "t"}, on_error=on_error) == Reply({})


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"\xff", b"{}"])
def test_006_4_a_broken_input_is_never_taken_for_an_event(payload: bytes) -> None:
    for told in (denying, failing):
        opened, closed = respond(payload, told), respond(payload, told, on_error="deny")
        assert (opened.output, opened.exit_code) == (None, 1)
        assert (closed.output, closed.exit_code) == (None, 2)
        assert "cannot read its input" in closed.stderr


@every_row("number", [b"NaN", b"1e999", b"[" * 300 + b"]" * 300])
@every_row("name", [n for kinds in EVENTS.values() for n in kinds])
def test_an_input_past_bounds_is_refused_as_its_event_is(name: str, number: bytes) -> None:
    payload = b'{"n":%s,"hook_event_name":"%s"}' % (number, name.encode())
    reply = respond(payload, on_error="deny")
    plain = respond(b'{"hook_event_name":"%s"}' % name.encode(), failing, on_error="deny")
    assert reply.exit_code == plain.exit_code != 2
    assert (reply.output or {}).keys() == (plain.output or {}).keys()


def test_an_input_without_a_name_is_refused_by_the_exit_code() -> None:
    for payload in (b'{"hook_event_name":"","n":NaN}', b'{"hook_event_name":7,"n":NaN}'):
        assert respond(payload, on_error="deny").exit_code == 2
        assert respond(payload).exit_code == 1


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise ValueError("even this")


@on(PreToolUse)
def unspeakable(_: PreToolUse) -> Answer | None:
    raise UnspeakableError


def test_an_error_that_cannot_be_told_is_a_failure_all_the_same() -> None:
    assert said(respond(CALL, unspeakable, on_error="deny"))["permissionDecision"] == "deny"


@given(st.binary())
def test_whatever_bytes_come_in_something_sound_goes_out(payload: bytes) -> None:
    for on_error in ("pass", "deny"):
        reply = respond(payload, failing, on_error=on_error)  # type: ignore[arg-type]
        assert reply.exit_code == (2 if on_error == "deny" else 1)


def test_the_platform_can_be_told() -> None:
    payload = {"hook_event_name": "SessionStart"}
    assert respond(payload, platform=Platform.GEMINI) == Reply({})
    assert respond(payload, platform="claude") == Reply()
