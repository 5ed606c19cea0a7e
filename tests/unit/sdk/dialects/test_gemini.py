"""Gemini's words: its own keys alone, the context where it is read, and never a blank output."""

from typing import Any

from crabhook.sdk import (
    AfterModel,
    BeforeModel,
    BeforeToolSelection,
    PostToolUse,
    PreCompact,
    PreToolUse,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from crabhook.sdk.dialects import write
from crabhook.sdk.dialects.gemini import write as gemini_write
from tests.support.rows import every_row
from tests.unit.sdk import samples

OWN_KEYS = {
    "decision",
    "reason",
    "systemMessage",
    "continue",
    "stopReason",
    "hookSpecificOutput",
}
NAMES = sorted(name for platform, name in samples.ALL if platform == "gemini")


def call() -> PreToolUse:
    event = samples.event("gemini", "BeforeTool-run_shell_command")
    assert isinstance(event, PreToolUse)
    return event


@every_row("name", NAMES)
def test_no_opinion_is_an_empty_object(name: str) -> None:
    event = samples.event("gemini", name)
    assert write(event, None).output == {}
    assert write(event, None).exit_code == 0


def test_006_5_a_call_is_denied_allowed_or_asked_about() -> None:
    event = call()
    said = {
        "deny": write(event, event.deny("no")).output,
        "allow": write(event, event.allow()).output,
        "ask": write(event, event.ask("sure?")).output,
        "halt": write(event, event.halt("enough")).output,
    }
    assert said == {
        "deny": {"decision": "deny", "reason": "no"},
        "allow": {"decision": "allow"},
        "ask": {"decision": "ask", "systemMessage": "sure?"},
        "halt": {"continue": False, "stopReason": "enough"},
    }


def test_what_gemini_has_no_word_for_is_denied() -> None:
    event = call()
    assert write(event, event.defer()).output == {"decision": "deny"}


def test_an_input_is_replaced_whole_with_or_without_a_verdict() -> None:
    event = call()
    whole = event.tool_input | {"command": "true"}
    specific = {"hookEventName": "BeforeTool", "tool_input": whole}
    assert write(event, event.rewrite(whole)).output == {"hookSpecificOutput": specific}
    assert write(event, event.allow(updated_input=whole)).output == {
        "decision": "allow",
        "hookSpecificOutput": specific,
    }


@every_row("name", NAMES)
def test_006_6_context_is_sent_where_gemini_reads_it_and_its_loss_is_told_elsewhere(
    name: str,
) -> None:
    event = samples.event("gemini", name)
    told: Any = getattr(event, "context", None)
    if told is None:
        return
    reply = write(event, told("c"))
    if isinstance(event, PostToolUse | UserPromptSubmit | SessionStart):
        specific = {"hookEventName": event.name, "additionalContext": "c"}
        assert reply.output == {"hookSpecificOutput": specific}
        assert not reply.unsaid
    else:
        assert isinstance(event, PreToolUse)
        assert reply.output == {}
        assert "context" in reply.unsaid[0]


def test_a_result_is_hidden_and_a_prompt_dropped() -> None:
    result = samples.event("gemini", "AfterTool-replace")
    assert isinstance(result, PostToolUse)
    assert write(result, result.block("no")).output == {"decision": "deny", "reason": "no"}
    assert write(result, result.replace_output("x")).output == {"decision": "deny", "reason": "x"}
    assert write(result, result.replace_output({"a": 1})).output == {
        "decision": "deny",
        "reason": '{"a":1}',
    }
    prompt = samples.event("gemini", "BeforeAgent")
    assert isinstance(prompt, UserPromptSubmit)
    assert write(prompt, prompt.block("no")).output == {"decision": "deny", "reason": "no"}


def test_an_agent_is_sent_on_by_a_denial() -> None:
    end = samples.event("gemini", "AfterAgent")
    assert isinstance(end, Stop)
    assert write(end, end.keep_going("test it")).output == {
        "decision": "deny",
        "reason": "test it",
    }


def test_a_compaction_cannot_be_blocked_and_the_author_is_told() -> None:
    event = samples.event("gemini", "PreCompress-auto")
    assert isinstance(event, PreCompact)
    reply = write(event, event.block("no"))
    assert reply.output == {}
    assert "decision" in reply.unsaid[0]


def test_requests_to_the_model_take_geminis_own_answers() -> None:
    before = samples.event("gemini", "BeforeModel")
    after = samples.event("gemini", "AfterModel")
    choice = samples.event("gemini", "BeforeToolSelection")
    assert isinstance(before, BeforeModel)
    assert isinstance(after, AfterModel)
    assert isinstance(choice, BeforeToolSelection)
    assert before.llm_request["model"] == "gemini-2.5-flash"
    assert gemini_write(before, before.patch({"model": "m"})).output == {
        "hookSpecificOutput": {"hookEventName": "BeforeModel", "llm_request": {"model": "m"}}
    }
    assert gemini_write(before, before.block("no")).output == {"decision": "deny", "reason": "no"}
    assert gemini_write(after, after.replace({"text": "t"})).output == {
        "hookSpecificOutput": {"hookEventName": "AfterModel", "llm_response": {"text": "t"}}
    }
    config = {"mode": "ANY", "allowedFunctionNames": ["glob"]}
    assert gemini_write(choice, choice.offer("ANY", ["glob"])).output == {
        "hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": config}
    }
    none = gemini_write(choice, choice.offer("NONE")).output
    assert none is not None
    assert none["hookSpecificOutput"] == {
        "hookEventName": "BeforeToolSelection",
        "toolConfig": {"mode": "NONE"},
    }


def test_a_message_goes_to_the_user() -> None:
    event = call()
    told = event.deny("no").telling_user("I stopped it")
    assert write(event, told).output == {
        "decision": "deny",
        "reason": "no",
        "systemMessage": "I stopped it",
    }
    assert write(event, event.tell_user("hello")).output == {"systemMessage": "hello"}
    assert set(write(event, told).output or {}) <= OWN_KEYS
