"""What Copilot's recorded inputs are read as, what waits, and what they can be told."""

import json
from pathlib import Path
from typing import Any

import pytest

from crabhook.install.entries import count, with_hooks, without_hooks
from crabhook.model.card import Stance
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.question import Answer, merge_answers, read_questions
from crabhook.platforms import PLATFORMS
from crabhook.platforms.copilot.settings import SETTINGS, settings_path, switches, troubles
from crabhook.platforms.event_table import Held
from crabhook.platforms.installation import Installation, SettingsScope
from crabhook.platforms.interface import Platform
from tests.support.client import sample

COPILOT: Platform = PLATFORMS["copilot"]
SESSION = "00000000-0000-4000-8000-000000000004"


def read(name: str, **changes: Any) -> Event:
    return COPILOT.read(sample(name, agent="copilot", **changes))


@pytest.mark.parametrize(
    ("name", "companion", "gate"),
    [
        ("PreToolUse-Bash", Held.BY_RULE, Held.ALWAYS),
        ("PermissionRequest-bash", Held.ALWAYS, Held.ALWAYS),
        ("PreToolUse-AskUserQuestion", Held.ALWAYS, Held.ALWAYS),
        ("PreToolUse-exit_plan_mode", Held.ALWAYS, Held.ALWAYS),
        ("UserPromptSubmit", Held.ON_REQUEST, Held.ON_REQUEST),
        ("Stop-in-subagent", Held.ON_REQUEST, Held.ON_REQUEST),
        ("SubagentStart", Held.NEVER, Held.NEVER),
        ("SessionEnd", Held.NEVER, Held.NEVER),
    ],
)
def test_what_waits(name: str, companion: Held, gate: Held) -> None:
    event = read(name)
    assert COPILOT.held(event, Stance.COMPANION) is companion
    assert COPILOT.held(event, Stance.GATE) is gate


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("PermissionRequest-bash", "PermissionRequest"),
        ("SubagentStart", "SubagentStart"),
        ("Notification-permission_prompt", "Notification"),
        ("ErrorOccurred", "ErrorOccurred"),
    ],
)
def test_each_event_is_known_by_its_name_however_it_is_spelled(name: str, event: str) -> None:
    asked = read(name)
    assert asked.name == event
    assert asked.session
    assert "hookName" not in asked.fields


@pytest.mark.parametrize(
    "name",
    [
        "PermissionRequest-bash-in-subagent",
        "PreToolUse-Bash-in-subagent",
        "Stop-in-subagent",
        "SubagentStart",
        "SubagentStop",
        "UserPromptSubmit-in-subagent",
    ],
)
def test_a_subagent_belongs_to_its_parents_session(name: str) -> None:
    event = read(name)
    assert event.session == SESSION
    assert event.agent_id == "00000000-0000-4000-8000-000000000005"


def test_a_subagents_prompt_is_no_persons() -> None:
    assert COPILOT.by_person(read("UserPromptSubmit"))
    assert not COPILOT.by_person(read("UserPromptSubmit-in-subagent"))


@pytest.mark.parametrize(
    ("request_", "tool", "shared"),
    [
        ("PermissionRequest-bash", "Bash", {"command": "false"}),
        ("PermissionRequest-edit", "Write", {"path": "/home/dev/project/new.txt"}),
        ("PermissionRequest-echo_echo", "echo-echo", {"text": "hello"}),
    ],
)
def test_a_request_is_of_the_tool_that_the_other_events_name(
    request_: str, tool: str, shared: dict[str, str]
) -> None:
    asked = read(request_).tool
    assert asked is not None
    assert (asked.name, asked.part) == (tool, shared)


def test_a_request_to_change_a_file_that_is_there_is_an_edit() -> None:
    diff = "\ndiff --git a/x b/x\nindex 0..1 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+create file mode 100644\n"
    tool = read("PermissionRequest-edit", toolInput={"file_path": "/x", "diff": diff}).tool
    assert tool is not None
    assert tool.name == "Edit"


@pytest.mark.parametrize(
    ("name", "verdicts", "beside"),
    [
        (
            "PreToolUse-Bash",
            {Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.NOTE | Beside.INPUT | Beside.RULE,
        ),
        (
            "PermissionRequest-bash",
            {Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.NOTE | Beside.RULE | Beside.INTERRUPT,
        ),
        (
            "PreToolUse-AskUserQuestion",
            {Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.INPUT,
        ),
        (
            "PreToolUse-exit_plan_mode",
            {Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.NOTHING,
        ),
        ("PostToolUse-Bash", {Verdict.ALLOW, Verdict.DENY, Verdict.PASS}, Beside.NOTE),
    ],
)
def test_only_what_works_is_offered(name: str, verdicts: set[Verdict], beside: Beside) -> None:
    offered = COPILOT.choices(read(name))
    assert offered.verdicts == verdicts
    assert offered.beside == beside


def test_after_no_opinion_any_call_may_run_as_no_input_says_the_mode() -> None:
    assert Verdict.PASS in COPILOT.choices(read("PreToolUse-Bash")).runs
    assert {Verdict.PASS, Verdict.ASK} <= COPILOT.choices(read("PermissionRequest-bash")).runs
    assert Verdict.ASK not in COPILOT.choices(read("PreToolUse-Bash")).runs


EDIT = {"command": "ls"}


@pytest.mark.parametrize(
    ("name", "decision", "written"),
    [
        (
            "PreToolUse-Bash",
            Decision(Verdict.ALLOW, note="look"),
            {"permissionDecision": "allow", "additionalContext": "look"},
        ),
        (
            "PreToolUse-Bash",
            Decision(Verdict.DENY, "no"),
            {"permissionDecision": "deny", "permissionDecisionReason": "no"},
        ),
        (
            "PreToolUse-Bash",
            Decision(Verdict.ASK, "why"),
            {"permissionDecision": "ask", "permissionDecisionReason": "why"},
        ),
        (
            "PreToolUse-Bash",
            Decision(Verdict.ALLOW, updated_input=EDIT),
            {"permissionDecision": "allow", "updatedInput": EDIT},
        ),
        ("PreToolUse-Bash", Decision(Verdict.PASS), None),
        ("PreToolUse-exit_plan_mode", Decision(Verdict.ASK), None),
        ("PreToolUse-AskUserQuestion", Decision(Verdict.ASK), None),
    ],
)
def test_a_decision_about_a_call_stands_in_the_specific_output(
    name: str, decision: Decision, written: dict[str, Any] | None
) -> None:
    event = read(name)
    COPILOT.check(event, decision)
    specific = written and {"hookSpecificOutput": {"hookEventName": event.name, **written}}
    assert COPILOT.write(event, decision).output == specific


@pytest.mark.parametrize(
    ("name", "decision", "written"),
    [
        ("Stop", Decision(Verdict.KEEP_GOING, "on"), {"decision": "block", "reason": "on"}),
        ("UserPromptSubmit", Decision(Verdict.DENY, "no"), {"decision": "block", "reason": "no"}),
        ("PostToolUse-Bash", Decision(Verdict.DENY, "no"), {"decision": "block", "reason": "no"}),
        ("PostToolUse-Bash", Decision(Verdict.ALLOW, note="look"), {"additionalContext": "look"}),
        ("SessionStart", Decision(Verdict.ALLOW, note="look"), {"additionalContext": "look"}),
        ("PermissionRequest-bash", Decision(Verdict.ALLOW), {"behavior": "allow"}),
        (
            "PermissionRequest-bash",
            Decision(Verdict.DENY, "no", interrupt=True),
            {"behavior": "deny", "message": "no", "interrupt": True},
        ),
        ("PermissionRequest-bash", Decision(Verdict.ASK), None),
    ],
)
def test_any_other_decision_stands_at_the_top_level(
    name: str, decision: Decision, written: object
) -> None:
    event = read(name)
    COPILOT.check(event, decision)
    assert COPILOT.write(event, decision).output == written


# Its form, shown as questions.


def test_a_forms_fields_are_asked_as_questions_and_stay_in_the_input() -> None:
    tool = read("PreToolUse-AskUserQuestion").tool
    assert tool is not None
    assert isinstance(tool.input, dict)
    assert set(tool.input) == {"message", "requestedSchema", "questions"}
    colour, gift = read_questions(tool.input)
    assert colour.text == "Which colour?: Colour"
    assert [option.label for option in colour.options] == ["Red", "Blue"]
    assert (gift.text, [option.label for option in gift.options]) == ("Gift?", ["Yes", "No"])


@pytest.mark.parametrize(
    ("asked", "texts"),
    [
        ({"message": "Which?"}, ["Which?"]),
        ({"message": "Which?", "requestedSchema": 5}, ["Which?"]),
        (
            {
                "message": "Which?",
                "requestedSchema": {"properties": {"a": {"title": "A", "description": "an a"}}},
            },
            ["Which?: A: an a"],
        ),
        ({"message": "Which?", "questions": [{"question": "forged"}]}, ["Which?"]),
    ],
)
def test_what_is_asked_comes_from_the_form_alone(asked: object, texts: list[str]) -> None:
    tool = read("PreToolUse-AskUserQuestion", tool_input=asked).tool
    assert tool is not None
    assert [question.text for question in read_questions(tool.input)] == texts


def test_answers_reach_the_model_as_a_refusal_that_states_them() -> None:
    event = read("PreToolUse-AskUserQuestion")
    assert event.tool is not None
    answered = merge_answers(event.tool.input, {0: Answer((1,))})
    decision = Decision(Verdict.ALLOW, updated_input=answered)
    COPILOT.check(event, decision)
    output = COPILOT.write(event, decision).output
    assert output is not None
    told = output["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert '"Which colour?: Colour" = "Blue"' in told["permissionDecisionReason"]
    assert '"Gift?" = (not answered)' in told["permissionDecisionReason"]
    assert "updatedInput" not in told


def test_a_form_without_answers_is_not_allowed_away() -> None:
    event = read("PreToolUse-AskUserQuestion")
    with pytest.raises(DecisionError):
        COPILOT.check(event, Decision(Verdict.ALLOW))
    assert COPILOT.write(event, Decision(Verdict.ALLOW)).output is None


def test_a_plan_is_never_granted_by_a_hook() -> None:
    event = read("PreToolUse-exit_plan_mode")
    with pytest.raises(DecisionError):
        COPILOT.check(event, Decision(Verdict.ALLOW))
    assert COPILOT.write(event, Decision(Verdict.ALLOW)).output is None


# The settings.


def entries(**more: Any) -> dict[str, Any]:
    made = SETTINGS.groups(Installation("/a venv/python", "/a venv/crabhook/hook/run.py", **more))
    return dict(made)


def test_every_event_is_hooked_or_left_out_for_a_reason() -> None:
    left_out = {name for name, row in COPILOT.events.items() if isinstance(row.hook, str)}
    assert set(entries()) == set(COPILOT.events) - left_out
    assert left_out == {"PreMcpToolCall"}


@pytest.mark.parametrize("before", ["", '{"version": 1,  "hooks": {"Stop": []}}\n'])
@pytest.mark.parametrize("stance", [Stance.COMPANION, Stance.GATE])
def test_installing_twice_changes_nothing_and_uninstalling_leaves_what_was_there(
    before: str, stance: Stance
) -> None:
    once = with_hooks(before, entries(stance=stance))
    assert with_hooks(once, entries(stance=stance)) == once
    assert count(once) == len(entries())
    assert json.loads(without_hooks(once)).get("version") == json.loads(before or "{}").get("version")  # fmt: skip


def test_failing_closed_concerns_calls_alone() -> None:
    for event, group in entries(fail_closed=True).items():
        (handler,) = group["hooks"]
        assert ("--when-lost deny" in handler["command"]) == (event in COPILOT.decided)


@pytest.mark.parametrize(
    ("scope", "environment", "expected"),
    [
        (SettingsScope.USER, {"HOME": "/h"}, "/h/.copilot/hooks/crabhook.json"),
        (SettingsScope.USER, {"HOME": "/h", "COPILOT_HOME": "/c"}, "/c/hooks/crabhook.json"),
        (SettingsScope.PROJECT, {}, "/p/.github/hooks/crabhook.json"),
    ],
)
def test_the_hooks_lie_where_copilot_looks(
    scope: SettingsScope, environment: dict[str, str], expected: str
) -> None:
    assert str(settings_path(scope, Path("/p"), environment)) == expected


def test_a_switch_that_stops_every_hook_is_named() -> None:
    off, on = json.dumps({"disableAllHooks": True}), json.dumps({"disableAllHooks": False})
    assert list(switches(off))
    assert not list(switches(on))


@pytest.mark.parametrize(
    ("settings", "said"),
    [('{"disableAllHooks": true}', "off, ours too"), ("{}", ""), ("{", "cannot be read")],
)
def test_a_switch_in_the_users_settings_is_named_too(settings: str, said: str) -> None:
    files = {Path("/h/.copilot/settings.json"): settings.encode()}
    told = list(troubles(Path("/h/.copilot/hooks/crabhook.json"), files.__getitem__))
    assert bool(told) == bool(said)
    assert all(said in trouble for trouble in told)
