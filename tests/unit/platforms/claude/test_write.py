"""Every decision in the exact words Claude Code reads."""

import json
from typing import Any

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.claude.write import LARGEST_ECHO, write
from crabhook.platforms.event_table import Also
from tests.support.rows import every_row

INPUT: dict[str, Any] = {"command": "ls", "unknown": [None, {"kept": "é"}]}
CHANGED: dict[str, Any] = {**INPUT, "command": "ls -l"}


def event(name: str, tool: str = "Bash", tool_input: Any = None) -> Event:
    return Event("claude", name, tool=ToolCall(tool, INPUT if tool_input is None else tool_input))


def printed(one: Event, decision: Decision) -> Any:
    reply = write(one, decision)
    assert reply.exit_code == 0
    return json.loads(reply.stdout) if reply.stdout else None


ALLOW, DENY, ASK, PASS = Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS

PRE_TOOL_USE = [
    (Decision(ALLOW), {"permissionDecision": "allow", "updatedInput": INPUT}),
    (
        Decision(ALLOW, note="n"),
        {"permissionDecision": "allow", "additionalContext": "n", "updatedInput": INPUT},
    ),
    (
        Decision(ALLOW, reason="r", note="n", updated_input=CHANGED),
        {
            "permissionDecision": "allow",
            "permissionDecisionReason": "r",
            "updatedInput": CHANGED,
            "additionalContext": "n",
        },
    ),
    (
        Decision(DENY, reason="r"),
        {"permissionDecision": "deny", "permissionDecisionReason": "r"},
    ),
    (Decision(ASK), {"permissionDecision": "ask"}),
    (
        Decision(ASK, reason="r"),
        {"permissionDecision": "ask", "permissionDecisionReason": "r"},
    ),
]
PERMISSION_REQUEST = [
    (Decision(ALLOW), {"behavior": "allow"}),
    (Decision(ALLOW, reason="r", note="n"), {"behavior": "allow"}),
    (Decision(ALLOW, updated_input=INPUT), {"behavior": "allow"}),
    (Decision(ALLOW, updated_input=CHANGED), {"behavior": "allow", "updatedInput": CHANGED}),
    (Decision(DENY, reason="r"), {"behavior": "deny", "message": "r"}),
]


@pytest.mark.parametrize(("decision", "said"), PRE_TOOL_USE, ids=repr)
def test_pre_tool_use_is_told_so(decision: Decision, said: Any) -> None:
    expected = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}
    assert printed(event("PreToolUse"), decision) == expected


@pytest.mark.parametrize(("decision", "said"), PERMISSION_REQUEST, ids=repr)
def test_permission_request_is_told_so(decision: Decision, said: Any) -> None:
    expected = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": said}}
    assert printed(event("PermissionRequest"), decision) == expected


def test_handing_a_prompt_back_is_silence_since_the_dialog_is_there() -> None:
    assert printed(event("PermissionRequest"), Decision(ASK)) is None


@every_row("name", [*EVENTS, "Brand-New"])
@every_row("decision", [Decision(PASS), Decision(PASS, reason="why")])
def test_no_opinion_is_silence_on_every_event(decision: Decision, name: str) -> None:
    reply = write(event(name), decision)
    assert (reply.output, reply.stdout, reply.exit_code) == (None, b"", 0)
    assert ("why" in reply.stderr) == (decision.reason == "why")


BLOCKED = {"decision": "block", "reason": "r"}
OTHERS: list[tuple[str, Decision, Any]] = [
    *((name, Decision(DENY, reason="r"), BLOCKED)
      for name in ("UserPromptSubmit", "UserPromptExpansion", "PreCompact", "ConfigChange",
                   "TaskCreated", "PostToolBatch", "PostToolUse", "PostToolUseFailure")),
    *((name, Decision(Verdict.KEEP_GOING, reason="r"), BLOCKED) for name in ("Stop", "SubagentStop")),
    *((name, Decision(ALLOW), None) for name in ("Stop", "UserPromptSubmit", "TaskCompleted")),
    ("PreModelSwitch", Decision(DENY, reason="r"), {"hookSpecificOutput": {
        "hookEventName": "PreModelSwitch",
        "permissionDecision": "deny", "permissionDecisionReason": "r"}}),
    ("PermissionDenied", Decision(Verdict.RETRY), {"hookSpecificOutput": {
        "hookEventName": "PermissionDenied", "retry": True}}),
    ("Elicitation", Decision(Verdict.ACCEPT, content={"n": 1}), {"hookSpecificOutput": {
        "hookEventName": "Elicitation", "action": "accept", "content": {"n": 1}}}),
    ("ElicitationResult", Decision(Verdict.DECLINE), {"hookSpecificOutput": {
        "hookEventName": "ElicitationResult", "action": "decline"}}),
    ("SessionStart", Decision(ALLOW, note="n"), {"hookSpecificOutput": {
        "hookEventName": "SessionStart", "additionalContext": "n"}}),
    ("PostToolUse", Decision(ALLOW, output={"stdout": "x"}), {"hookSpecificOutput": {
        "hookEventName": "PostToolUse", "updatedToolOutput": {"stdout": "x"}}}),
    ("Stop", Decision(PASS, suppress_output=True), {"suppressOutput": True}),
    ("Stop", Decision(PASS, halt="enough", user_message="look"), {
        "continue": False, "stopReason": "enough", "systemMessage": "look"}),
    ("PreToolUse", Decision(Verdict.DEFER), {"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "defer"}}),
    ("PermissionRequest", Decision(DENY, reason="r", interrupt=True), {"hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": "r", "interrupt": True}}}),
    ("PermissionRequest", Decision(DENY, reason="r", halt="enough"), {"hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": "r", "interrupt": True}}}),
    ("PermissionRequest", Decision(ALLOW, permissions=({"type": "addRules"},)),
     {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {
         "behavior": "allow", "updatedPermissions": [{"type": "addRules"}]}}}),
]  # fmt: skip


@every_row("name, decision, said", OTHERS)
def test_every_other_event_is_told_so(name: str, decision: Decision, said: Any) -> None:
    assert printed(event(name), decision) == said


@pytest.mark.parametrize(
    ("name", "verdict"), [("TeammateIdle", Verdict.KEEP_GOING), ("TaskCompleted", DENY)]
)
def test_what_only_an_exit_code_decides_exits_with_2(name: str, verdict: Verdict) -> None:
    reply = write(event(name), Decision(verdict, reason="r"))
    assert (reply.exit_code, reply.stderr, reply.stdout) == (2, "r\n", b"")


def test_a_changed_plan_is_left_to_the_request_that_follows() -> None:
    plan = {"plan": "a"}
    changed = Decision(ALLOW, updated_input={"plan": "b"})
    assert printed(event("PreToolUse", "ExitPlanMode", plan), changed) is None
    said = printed(event("PermissionRequest", "ExitPlanMode", plan), changed)
    assert said["hookSpecificOutput"]["decision"]["updatedInput"] == {"plan": "b"}


@every_row("verdict", Verdict)
def test_a_prompt_never_gets_the_shape_of_pre_tool_use(verdict: Verdict) -> None:
    full = Decision(verdict, reason="r", note="n", updated_input=CHANGED)
    specific = (printed(event("PermissionRequest"), full) or {}).get("hookSpecificOutput", {})
    assert set(specific) <= {"hookEventName", "decision"}


@pytest.mark.parametrize("name", ["PreToolUse", "PermissionRequest"])
def test_an_allowed_plan_is_sent_back_since_that_alone_releases_it(name: str) -> None:
    plan = {"plan": "# go", "planFilePath": "/p", "unknown": 1}
    specific = printed(event(name, "ExitPlanMode", plan), Decision(ALLOW))["hookSpecificOutput"]
    assert specific.get("decision", specific)["updatedInput"] == plan


@pytest.mark.parametrize("name", ["PreToolUse", "PermissionRequest"])
@pytest.mark.parametrize("tool_input", [[], "x", 1])
def test_a_plan_that_is_no_object_is_not_sent_back(tool_input: Any, name: str) -> None:
    assert "updatedInput" not in json.dumps(
        printed(event(name, "ExitPlanMode", tool_input), Decision(ALLOW))
    )


@pytest.mark.parametrize("name", ["PreToolUse", "PermissionRequest"])
def test_an_allow_of_questions_without_answers_carries_no_input(name: str) -> None:
    asked = event(name, "AskUserQuestion", {"questions": [{"question": "?"}]})
    assert "updatedInput" not in json.dumps(printed(asked, Decision(ALLOW)))


def test_every_other_allow_before_a_call_sends_back_what_was_approved() -> None:
    asked = {"command": "ls", "unknown": [1.5, None, {"deep": "é"}], "run_in_background": False}
    specific = printed(event("PreToolUse", "Bash", asked), Decision(ALLOW))["hookSpecificOutput"]
    assert specific["updatedInput"] == asked


def test_a_prompt_allowed_as_it_is_gets_no_input_that_an_ask_rule_would_ask_about_again() -> None:
    asked = {"command": "ls", "run_in_background": 0}
    for decision, sent in (
        (Decision(ALLOW), {}),
        (Decision(ALLOW, updated_input={"run_in_background": 0, "command": "ls"}), {}),
        (Decision(ALLOW, updated_input=asked | {"run_in_background": False}), {"updatedInput"}),
    ):
        body = printed(event("PermissionRequest", "Bash", asked), decision)
        assert set(body["hookSpecificOutput"]["decision"]) == {"behavior", *sent}


def test_an_input_too_large_for_an_answer_is_not_sent_back() -> None:
    asked = event("PreToolUse", "Write", {"content": "x" * LARGEST_ECHO})
    specific = printed(asked, Decision(ALLOW))["hookSpecificOutput"]
    assert specific == {"hookEventName": "PreToolUse", "permissionDecision": "allow"}


@pytest.mark.parametrize("name", ["PreToolUse", "PermissionRequest"])
def test_the_input_is_written_whole_and_in_its_order(name: str) -> None:
    text = write(event(name), Decision(ALLOW, updated_input=CHANGED)).stdout.decode()
    assert json.dumps(CHANGED, separators=(",", ":")) in text


@every_row("name", [*EVENTS, "Brand-New"])
def test_a_remark_goes_only_where_the_model_reads_it(name: str) -> None:
    reply = PLATFORMS["claude"].remark(event(name), "n")
    if name not in EVENTS or Also.CONTEXT not in EVENTS[name].also:
        assert reply is None
        return
    assert reply is not None
    assert reply.output == {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "n"}}
