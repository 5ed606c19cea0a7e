"""Codex's words: an output with one wrong key is void and the call runs, so none is printed.

Also `crabhook.sdk.dialects.body` and `crabhook.sdk.event`, of which all three are made.
"""

from typing import Any

import pytest

from crabhook.sdk import (
    Answer,
    PermissionRequest,
    PostToolUse,
    PreCompact,
    PreToolUse,
    Stop,
    UserPromptSubmit,
    Verdict,
)
from crabhook.sdk.dialects import write
from crabhook.sdk.dialects.codex import write as codex_write
from crabhook.sdk.event import Body, Reply
from tests.support.rows import every_row
from tests.unit.sdk import samples


def call() -> PreToolUse:
    event = samples.event("codex", "PreToolUse-Bash")
    assert isinstance(event, PreToolUse)
    return event


def request() -> PermissionRequest:
    event = samples.event("codex", "PermissionRequest-Bash")
    assert isinstance(event, PermissionRequest)
    return event


def specific(reply: Reply) -> dict[str, Any]:
    """What hookSpecificOutput says, which is all that was printed."""
    assert reply.output is not None
    assert set(reply.output) == {"hookSpecificOutput"}
    said = reply.output["hookSpecificOutput"]
    assert isinstance(said, dict)
    return {key: value for key, value in said.items() if key != "hookEventName"}


def denied(reason: str) -> dict[str, Any]:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}


def test_a_call_is_denied_with_its_reason() -> None:
    event = call()
    assert specific(write(event, event.deny("no"))) == denied("no")


def test_an_allow_is_silence_since_codex_takes_none() -> None:
    event = call()
    assert write(event, event.allow()) == Reply()


@pytest.mark.parametrize("answer", ["ask", "defer", "halt"])
def test_what_codex_would_void_is_denied_and_the_author_is_told(answer: str) -> None:
    event = call()
    said: Answer = getattr(event, answer)(*["enough"] * (answer != "defer"))
    reply = write(event, said)
    assert specific(reply)["permissionDecision"] == "deny"
    assert specific(reply)["permissionDecisionReason"]
    assert reply.unsaid


def test_an_allow_that_ends_the_turn_is_a_denial_as_well() -> None:
    event = call()
    assert specific(write(event, event.allow()._replace(halt="enough"))) == denied("enough")


@pytest.mark.parametrize("way", ["allow", "rewrite"])
def test_an_input_is_replaced_beside_an_allow_which_approves_nothing(way: str) -> None:
    event = call()
    whole = event.tool_input | {"command": "true"}
    answer = event.rewrite(whole) if way == "rewrite" else event.allow(updated_input=whole)
    assert specific(write(event, answer)) == {"permissionDecision": "allow", "updatedInput": whole}


def test_a_request_is_allowed_or_denied() -> None:
    event = request()
    assert specific(write(event, event.allow())) == {"decision": {"behavior": "allow"}}
    denial = {"decision": {"behavior": "deny", "message": "no"}}
    assert specific(write(event, event.deny("no"))) == denial


def test_a_denial_survives_an_interrupt_that_codex_does_not_take() -> None:
    event = request()
    reply = write(event, event.deny("no", interrupt=True))
    assert specific(reply) == {"decision": {"behavior": "deny", "message": "no"}}
    assert "interrupt" in reply.unsaid[0]


def test_a_request_is_never_allowed_with_another_input_than_was_meant() -> None:
    event = request()
    for answer in (
        event.allow(updated_input={"command": "true"}),
        event.allow(permissions=[{"type": "setMode", "mode": "plan"}]),
    ):
        reply = write(event, answer)
        assert reply.output is None
        assert "allow" in reply.unsaid[0]


def test_a_prompt_is_blocked_a_result_replaced_and_an_agent_sent_on() -> None:
    prompt = samples.event("codex", "UserPromptSubmit")
    result = samples.event("codex", "PostToolUse-Bash")
    end = samples.event("codex", "Stop", stop_hook_active=False)
    assert isinstance(prompt, UserPromptSubmit)
    assert isinstance(result, PostToolUse)
    assert isinstance(end, Stop)
    blocked = {"decision": "block", "reason": "r"}
    assert write(prompt, prompt.block("r")).output == blocked
    assert write(result, result.block("r")).output == blocked
    assert write(result, result.replace_output("r")).output == blocked
    assert write(result, result.replace_output("")).output == blocked | {"reason": "(nothing)"}
    assert write(end, end.keep_going("r")).output == blocked
    assert write(end, end.halt("r")) == Reply()  # it ends by itself
    assert write(prompt, prompt.halt("r")).output == blocked
    ended = write(result, result.halt("r"))
    assert ended.output == {"continue": False, "stopReason": "r"}
    assert "end of the turn" in ended.unsaid[0]


@pytest.mark.parametrize("name", ["PreToolUse-Bash", "PostToolUse-Bash", "UserPromptSubmit", "SessionStart"])  # fmt: skip
def test_006_6_context_goes_to_the_model_under_the_events_own_name(name: str) -> None:
    event: Any = samples.event("codex", name)
    reply = write(event, event.context("c"))
    assert specific(reply) == {"additionalContext": "c"}
    assert reply.output is not None
    assert reply.output["hookSpecificOutput"]["hookEventName"] == event.name  # type: ignore[index,call-overload]


def test_a_compaction_cannot_be_blocked_and_the_author_is_told() -> None:
    event = samples.event("codex", "PreCompact")
    assert isinstance(event, PreCompact)
    reply = write(event, event.block("no"))
    assert reply.output is None
    assert "decision" in reply.unsaid[0]


KNOWN = {
    "top": {"decision", "reason", "continue", "stopReason", "systemMessage", "hookSpecificOutput"},
    "PreToolUse": {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"},
    "PermissionRequest": {"decision"},
}  # fmt: skip


@every_row("name", sorted(n for p, n in samples.ALL if p == "codex"))
def test_whatever_is_said_only_known_keys_are_printed(name: str) -> None:
    event = samples.event("codex", name)
    extras: list[dict[str, Any]] = [
        {},
        {"context": "c"},
        {"user_message": "u"},
        {"interrupt": True},
        {"permissions": ({"a": 1},)},
        {"updated_input": {"command": "x"}},
        {"halt": "h"},
        {"output": "o"},
    ]
    for verdict in [None, *event.verdicts]:
        for extra in extras:
            answer = Answer(verdict, "r" if verdict else "")._replace(**extra)
            try:
                reply = write(event, answer)
            except ValueError:
                continue  # no event's own answer
            output = dict(reply.output or {})
            assert output.keys() <= KNOWN["top"]
            inner: Any = output.get("hookSpecificOutput", {})
            known = KNOWN.get(event.name, {"additionalContext"})
            assert inner.keys() <= known | {"hookEventName"}
            if event.name == "PreToolUse":
                assert "continue" not in output
                if verdict in (Verdict.DENY, Verdict.ASK, Verdict.DEFER):
                    assert inner["permissionDecision"] == "deny"


def test_a_body_is_silent_until_something_is_said() -> None:
    body = Body(call())
    assert body.reply() == Reply()
    assert body.reply(silence={}) == Reply({})
    body.leave_out("x")
    body.top["a"] = 1
    assert body.reply(silence={}) == Reply({"a": 1}, unsaid=("x",))
    assert codex_write(call(), Answer()) == Reply()
