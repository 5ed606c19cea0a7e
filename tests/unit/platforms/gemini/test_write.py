"""Every decision in the exact words Gemini CLI reads, and no others."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.platforms.gemini.events import EVENTS
from crabhook.platforms.gemini.write import check, write
from tests.support.rows import every_row

ALLOW, DENY, KEEP_GOING = Verdict.ALLOW, Verdict.DENY, Verdict.KEEP_GOING
INPUT: dict[str, Any] = {"command": "ls", "unknown": [None, {"kept": "é"}]}
CHANGED: dict[str, Any] = {**INPUT, "command": "ls -l"}
ASKED: dict[str, Any] = {"questions": [{"question": "Which?"}]}
TOOLS = ("run_shell_command", "ask_user", "exit_plan_mode", "mcp_a_b")

# What Gemini CLI 0.61 knows; of a decision, only the words we mean to use.
TOP = {"decision", "reason", "systemMessage", "continue", "stopReason", "hookSpecificOutput"}
SPECIFIC = {
    "BeforeTool": {"tool_input"},
    "AfterTool": {"additionalContext"},
    "BeforeAgent": {"additionalContext"},
    "SessionStart": {"additionalContext"},
}


def event(name: str, tool: str = "run_shell_command", tool_input: Any = None) -> Event:
    return Event("gemini", name, tool=ToolCall(tool, INPUT if tool_input is None else tool_input))


def printed(one: Event, decision: Decision) -> Any:
    reply = write(one, decision)
    assert (reply.exit_code, reply.stderr) == (0, "")
    assert reply.stdout.endswith(b"}\n")
    assert reply.stdout.count(b"\n") == 1
    return json.loads(reply.stdout)


@every_row(
    "name, decision, expected",
    [
        ("BeforeTool", Decision(ALLOW), {"decision": "allow"}),
        ("BeforeTool", Decision(ALLOW, note="n"), {"decision": "allow"}),
        (
            "BeforeTool",
            Decision(ALLOW, updated_input=CHANGED),
            {"decision": "allow", "hookSpecificOutput": {"tool_input": CHANGED}},
        ),
        ("BeforeTool", Decision(DENY, reason="r"), {"decision": "deny", "reason": "r"}),
        (
            "BeforeTool",
            Decision(DENY, reason="r", interrupt=True),
            {"decision": "deny", "reason": "r", "continue": False, "stopReason": "r"},
        ),
        (
            "BeforeTool",
            Decision(Verdict.PASS, halt="h", user_message="m"),
            {"continue": False, "stopReason": "h", "systemMessage": "m"},
        ),
        (
            "AfterTool",
            Decision(ALLOW, note="n"),
            {"hookSpecificOutput": {"additionalContext": "n"}},
        ),
        ("AfterTool", Decision(DENY, reason="r"), {"decision": "deny", "reason": "r"}),
        ("AfterTool", Decision(ALLOW, output="o"), {"decision": "deny", "reason": "o"}),
        (
            "AfterTool",
            Decision(ALLOW, output={"llmContent": "o", "returnDisplay": "d"}),
            {"decision": "deny", "reason": "o"},
        ),
        ("AfterTool", Decision(ALLOW, output=[1]), {"decision": "deny", "reason": "[1]"}),
        ("BeforeAgent", Decision(DENY, reason="r"), {"decision": "deny", "reason": "r"}),
        ("BeforeAgent", Decision(ALLOW), {}),
        ("BeforeModel", Decision(DENY, reason="r"), {"decision": "deny", "reason": "r"}),
        ("AfterAgent", Decision(KEEP_GOING, reason="r"), {"decision": "deny", "reason": "r"}),
        ("AfterAgent", Decision(ALLOW), {}),
        (
            "SessionStart",
            Decision(ALLOW, note="n"),
            {"hookSpecificOutput": {"additionalContext": "n"}},
        ),
    ],
)
def test_a_decision_is_written_in_the_events_own_words(
    name: str, decision: Decision, expected: Any
) -> None:
    check(event(name), decision)
    assert printed(event(name), decision) == expected


@every_row("name", [*EVENTS, "Brand-New"])
def test_no_opinion_is_an_empty_object_and_never_silence(name: str) -> None:
    assert (
        write(event(name), Decision(Verdict.PASS, reason="the operator is away")).stdout == b"{}\n"
    )


def test_answers_are_a_denial_that_states_them() -> None:
    asked = event("BeforeTool", "ask_user", ASKED)
    decision = Decision(ALLOW, updated_input={**ASKED, "answers": {"Which?": "Blue"}})
    said = printed(asked, decision)
    assert set(said) == {"decision", "reason"}
    assert said["decision"] == "deny"
    assert "Answer: Blue" in said["reason"]


def test_questions_without_answers_are_left_to_the_agents_own_dialog() -> None:
    asked = event("BeforeTool", "ask_user", ASKED)
    assert printed(asked, Decision(ALLOW)) == {"decision": "allow"}
    other = {"questions": [{"question": "Which one?"}]}
    assert printed(asked, Decision(ALLOW, updated_input=other)) == {
        "decision": "allow",
        "hookSpecificOutput": {"tool_input": other},
    }


def test_a_note_reaches_the_model_with_a_result() -> None:
    reply = PLATFORMS["gemini"].remark(event("AfterTool"), "n")
    assert reply is not None
    assert reply.output == {"hookSpecificOutput": {"additionalContext": "n"}}
    assert PLATFORMS["gemini"].remark(event("BeforeTool"), "n") is None
    assert PLATFORMS["gemini"].remark(event("Brand-New"), "n") is None


texts = st.sampled_from(["", "why", "é\ud800\n"])
objects = st.none() | st.sampled_from([CHANGED, {}, {**ASKED, "answers": {"Which?": "B"}}])
decisions = st.builds(
    Decision,
    verdict=st.sampled_from(Verdict),
    reason=texts,
    note=texts,
    updated_input=objects,
    output=st.none() | texts | objects,
    content=objects,
    permissions=st.sampled_from([(), ({"type": "setMode"},)]),
    interrupt=st.booleans(),
    halt=texts,
    user_message=texts,
)
events = st.builds(event, st.sampled_from([*EVENTS, "Brand-New"]), st.sampled_from(TOOLS))


@given(events, decisions)
def test_no_decision_makes_a_word_that_gemini_does_not_know(one: Event, decision: Decision) -> None:
    """Of whatever was decided, whether or not it was refused before."""
    said = printed(one, decision)
    assert set(said) <= TOP
    assert set(said.get("hookSpecificOutput", {})) <= SPECIFIC.get(one.name, set())
    assert said.get("decision") in (None, "allow", "deny")
    assert said.get("continue") in (None, False)
    assert ("stopReason" in said) == ("continue" in said)


@given(events, decisions)
def test_only_an_allow_allows(one: Event, decision: Decision) -> None:
    said = printed(one, decision)
    if said.get("decision") == "allow" or "tool_input" in said.get("hookSpecificOutput", {}):
        assert decision.verdict is ALLOW


@given(events, decisions)
def test_what_was_taken_is_said_whole(one: Event, decision: Decision) -> None:
    try:
        check(one, decision)
    except DecisionError:
        return
    said = json.dumps(printed(one, decision))
    carried = [decision.halt, decision.user_message]
    carried += [decision.reason] if decision.verdict in (DENY, KEEP_GOING) else []
    carried += [decision.note] if one.name in ("AfterTool", "BeforeAgent", "SessionStart") else []
    for text in carried:
        assert json.dumps(text)[1:-1] in said
