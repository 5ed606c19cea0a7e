"""Claude Code's words: those of the server's own writer."""

from collections.abc import Iterator
from typing import Any

import pytest

from crabhook.model.decision import Beside, Decision
from crabhook.model.decision import Verdict as Brokers
from crabhook.platforms.claude.events import EVENTS as CLAUDES
from crabhook.platforms.claude.events import read_event as read_house
from crabhook.platforms.claude.write import choices
from crabhook.platforms.claude.write import write as house_write
from crabhook.sdk import (
    EVENTS,
    Answer,
    Event,
    PermissionRequest,
    Platform,
    PreToolUse,
    Reply,
    Verdict,
    read_event,
)
from crabhook.sdk.dialects import write
from crabhook.sdk.dialects.claude import write as claude_write
from tests.support.rows import every_row
from tests.unit.sdk import samples

INPUT = {"command": "ls"}
EXTRAS: list[tuple[Beside, dict[str, Any]]] = [
    (Beside.NOTE, {"context": "note"}),
    (Beside.MESSAGE, {"user_message": "hello"}),
    (Beside.SUPPRESS, {"suppress_output": True}),
    (Beside.HALT, {"halt": "enough"}),
    (Beside.INPUT, {"updated_input": {"command": "pwd"}}),
    (Beside.OUTPUT, {"output": {"stdout": "x"}}),
    (Beside.PERMISSIONS, {"permissions": ({"type": "setMode", "mode": "plan"},)}),
    (Beside.INTERRUPT, {"interrupt": True}),
]


def as_decision(answer: Answer) -> Decision:
    verdict = Brokers(answer.verdict.value) if answer.verdict else Brokers.PASS
    return Decision(
        verdict,
        reason=answer.reason,
        note=answer.context,
        updated_input=answer.updated_input,
        output=answer.output,
        content=answer.content,
        permissions=answer.permissions,
        interrupt=answer.interrupt,
        halt=answer.halt,
        user_message=answer.user_message,
        suppress_output=answer.suppress_output,
    )


def approving(event: Event, answer: Answer) -> Answer:
    """The answer as the server gives it: its allow before a call sends back what was approved."""
    silent = answer.verdict is not Verdict.ALLOW or answer.updated_input is not None
    if silent or not isinstance(event, PreToolUse) or event.tool_name == "ExitPlanMode":
        return answer
    return answer._replace(updated_input=event.tool_input)


def sayable(event: Event) -> Iterator[Answer]:
    """Every answer to the event: each verdict, bare and with each thing that can go with it."""
    beside = choices(read_house(event.payload)).beside
    if isinstance(event, PermissionRequest):  # a note waits in the broker for the call's result
        beside &= ~(Beside.NOTE | Beside.HALT)
    else:
        beside &= ~Beside.PERMISSIONS
    extras = [extra for part, extra in EXTRAS if part in beside]
    for verdict in [None, *event.verdicts]:
        bare = Answer(verdict, "because" if verdict else "")
        for extra in [{}, *extras]:
            goes_with = {"permissions": Verdict.ALLOW, "interrupt": Verdict.DENY}
            if all(goes_with.get(key, verdict) is verdict for key in extra):
                yield bare._replace(**extra)
        if verdict is Verdict.ACCEPT:
            yield bare._replace(content={"a": 1})


@every_row("tool", ["Bash", "ExitPlanMode"])
@every_row("name", CLAUDES)
def test_an_answer_is_written_as_the_server_writes_it(name: str, tool: str) -> None:
    called = {"tool_name": tool, "tool_input": INPUT}
    about_a_call = hasattr(EVENTS[Platform.CLAUDE][name], "tool")
    event = read_event({"hook_event_name": name, **(called if about_a_call else {})}, "claude")
    for said in sayable(event):
        if said.verdict is None and said.updated_input is not None:
            continue  # the broker knows no change without a verdict: the next test
        answer = approving(event, said)
        expected = house_write(read_house(event.payload), as_decision(answer))
        reply = claude_write(event, answer)
        assert (reply.output, reply.exit_code) == (expected.output, expected.exit_code), answer
        if answer.verdict:
            assert reply.stderr == expected.stderr


def test_a_changed_plan_is_left_to_the_request_that_follows_and_the_author_is_told() -> None:
    event = samples.event("claude", "PreToolUse-ExitPlanMode")
    assert isinstance(event, PreToolUse)
    reply = write(event, event.allow(updated_input=event.tool_input | {"plan": "another"}))
    assert reply.output is None
    assert "plan" in reply.unsaid[0]


def test_a_rewrite_decides_nothing() -> None:
    event = samples.event("claude", "PreToolUse-Bash")
    assert isinstance(event, PreToolUse)
    rewritten = event.rewrite(event.tool_input | {"command": "true"})
    assert write(event, rewritten).output == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "updatedInput": {"command": "true", "description": "write"},
        }
    }


def test_no_opinion_is_silence() -> None:
    assert write(samples.event("claude", "PreToolUse-Bash"), None) == Reply()


@every_row("name", sorted(n for p, n in samples.ALL if p == "claude"))
def test_006_6_context_goes_to_the_model_under_the_events_own_name(name: str) -> None:
    event = samples.event("claude", name)
    told = getattr(event, "context", None)
    if told is None:
        assert not isinstance(event, PreToolUse)
        return
    specific = {"hookEventName": event.name, "additionalContext": "c"}
    assert write(event, told("c")).output == {"hookSpecificOutput": specific}


def test_a_message_that_has_no_user_to_read_it_is_left_out_and_the_denial_stays() -> None:
    event = samples.event("claude", "PermissionRequest-Bash")
    assert isinstance(event, PermissionRequest)
    reply = write(event, event.deny("no").telling_user("hello"))
    assert reply.output == {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "no"},
        }
    }
    assert "message" in reply.unsaid[0]


def _event(name: str) -> Event:
    return read_event({"hook_event_name": name}, "claude")


def test_an_answer_of_another_event_is_refused() -> None:
    stop, call = _event("Stop"), _event("PreToolUse")
    assert isinstance(call, PreToolUse)
    for answer in (call.allow(), call.rewrite({}), call.context("c")):
        with pytest.raises(ValueError, match="another event's"):
            write(stop, answer)
    with pytest.raises(ValueError, match="does not end the turn"):
        write(_event("SessionStart"), call.halt("h"))


@pytest.mark.parametrize("wrong", ["deny", True, False, {}, {"decision": "block"}, ()])
def test_what_is_no_answer_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="has to return an answer"):
        write(_event("PreToolUse"), wrong)
