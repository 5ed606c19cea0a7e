"""What the server writes is heard as what was decided."""

import json
from typing import Any

import pytest

from crabhook.hook.wire import WireReply as Wire
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms.claude.events import EVENTS as CLAUDES
from crabhook.platforms.claude.events import Way
from crabhook.platforms.claude.events import read_event as read_house
from crabhook.platforms.claude.write import write as house_write
from crabhook.sdk import EVENTS, Answer, Platform, heard, read_event
from crabhook.sdk.dialects import write
from tests.support.rows import every_row
from tests.unit.sdk.dialects.test_claude import EXTRAS, approving, as_decision, sayable

INPUT = {"command": "ls"}


def on_the_wire(output: Any, stderr: str = "", code: int = 0) -> Wire:
    stdout = b"" if output is None else json.dumps(output).encode()
    return Wire(stdout, stderr.encode(), code)


@every_row("name", CLAUDES)
def test_whatever_the_server_writes_is_heard_as_decided_and_said_again_to_the_letter(
    name: str,
) -> None:
    called = {"tool_name": "Bash", "tool_input": INPUT}
    about_a_call = hasattr(EVENTS[Platform.CLAUDE][name], "tool")
    event = read_event({"hook_event_name": name, **(called if about_a_call else {})}, "claude")
    for answer in sayable(event):
        if answer.verdict is None and answer.updated_input is not None:
            continue  # the broker knows none
        reply = house_write(read_house(event.payload), as_decision(answer))
        wire = on_the_wire(reply.output, reply.stderr, reply.exit_code)
        expected = approving(event, answer)
        way = CLAUDES[name].verdicts.get(Verdict(answer.verdict.value)) if answer.verdict else None
        if way in (Way.ACTION, Way.RETRY) or (
            way is Way.DECISION and answer.verdict is not None and answer.verdict != "deny"
        ):
            expected = expected._replace(reason="")  # which has no place there
        answered = heard.answer(event, wire)
        assert answered == (None if expected == Answer() else expected)
        again = write(event, answered)
        assert (again.output, again.exit_code) == (reply.output, reply.exit_code)


def test_the_extras_above_are_all_that_an_answer_can_hold() -> None:
    held = {key for _, extra in EXTRAS for key in extra} | {"verdict", "reason", "content"}
    assert held == set(Answer._fields) - {"specific"}


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.ALLOW])
def test_silence_is_no_opinion_and_never_an_allow(verdict: Verdict) -> None:
    name = "PreToolUse" if verdict is Verdict.PASS else "Stop"
    event = read_event({"hook_event_name": name}, "claude")
    reply = house_write(read_house(event.payload), Decision(verdict))
    assert reply.output is None
    assert heard.answer(event, on_the_wire(reply.output)) is None


@pytest.mark.parametrize("stdout", [b"", b" \n", b"plain words", b"{", b"[1]", b"{}", b'{"a": 1}'])
def test_what_decides_nothing_is_none(stdout: bytes) -> None:
    event = read_event({"hook_event_name": "PreToolUse"}, "claude")
    assert heard.answer(event, Wire(stdout)) is None


@pytest.mark.parametrize(
    "output",
    [
        {"decision": "block", "reason": "r"},
        {"decision": "deny", "reason": "r"},
        {"decision": "forbid", "reason": "r"},
        {"hookSpecificOutput": {"permissionDecision": "never", "permissionDecisionReason": "r"}},
    ],
)
def test_a_word_nobody_knows_is_heard_as_a_no(output: dict[str, Any]) -> None:
    event = read_event({"hook_event_name": "PreToolUse"}, "claude")
    answer = heard.answer(event, on_the_wire(output))
    assert answer is not None
    assert (answer.verdict, answer.reason) == ("deny", "r")


def test_other_dialects_are_heard_too() -> None:
    call = read_event({"hook_event_name": "BeforeTool"}, "gemini")
    changed = {"decision": "allow", "hookSpecificOutput": {"tool_input": INPUT}}
    assert heard.answer(call, on_the_wire(changed)) == Answer(
        verdict=heard.Verdict.ALLOW, updated_input=INPUT
    )
    end = read_event({"hook_event_name": "AfterAgent"}, "gemini")
    sent_on = heard.answer(end, on_the_wire({"decision": "deny", "reason": "go"}))
    assert sent_on is not None
    assert (sent_on.verdict, sent_on.reason) == ("keep-going", "go")
    assert heard.answer(call, on_the_wire({"decision": "approve"})) == Answer(heard.Verdict.ALLOW)
