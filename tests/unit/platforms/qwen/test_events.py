"""What Qwen Code's recorded inputs are read as, what waits, and what they can be told."""

import json
from pathlib import Path
from typing import Any

import pytest

from crabhook.install.entries import count, with_hooks, without_hooks
from crabhook.model.card import Stance
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.question import Answer, merge_answers
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from crabhook.platforms.installation import Installation, SettingsScope
from crabhook.platforms.qwen.settings import groups, settings_path, switches
from tests.support.client import sample

QWEN = PLATFORMS["qwen"]


def read(name: str, **changes: Any) -> Event:
    return QWEN.read(sample(name, agent="qwen", **changes))


@pytest.mark.parametrize(
    ("name", "companion", "gate"),
    [
        ("PermissionRequest-run_shell_command", Held.ALWAYS, Held.ALWAYS),
        ("PreToolUse-run_shell_command", Held.BY_RULE, Held.ALWAYS),
        ("PreToolUse-ask_user_question", Held.BY_RULE, Held.BY_RULE),
        ("PreToolUse-exit_plan_mode", Held.BY_RULE, Held.BY_RULE),
        ("UserPromptSubmit", Held.ON_REQUEST, Held.ON_REQUEST),
        ("UserPromptSubmit-after-tools", Held.NEVER, Held.NEVER),
        ("PostToolUseFailure-run_shell_command", Held.ON_REQUEST, Held.ON_REQUEST),
        ("SessionEnd", Held.NEVER, Held.NEVER),
    ],
)
def test_what_waits(name: str, companion: Held, gate: Held) -> None:
    event = read(name)
    assert QWEN.held(event, Stance.COMPANION) is companion
    assert QWEN.held(event, Stance.GATE) is gate


def test_an_empty_prompt_is_no_persons() -> None:
    assert QWEN.by_person(read("UserPromptSubmit"))
    assert not QWEN.by_person(read("UserPromptSubmit-after-tools"))


def test_a_calls_result_has_the_id_that_the_call_had() -> None:
    before, after = read("PreToolUse-run_shell_command"), read("PostToolUseFailure-run_shell_command")  # fmt: skip
    assert before.tool is not None
    assert after.tool is not None
    assert before.tool.use_id == after.tool.use_id == "toolu_0015"


@pytest.mark.parametrize(
    ("name", "verdicts", "beside"),
    [
        (
            "PermissionRequest-run_shell_command",
            {Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.NOTE | Beside.INPUT | Beside.RULE,
        ),
        (
            "PermissionRequest-ask_user_question",
            {Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.INPUT,
        ),
        (
            "PermissionRequest-exit_plan_mode",
            {Verdict.DENY, Verdict.ASK, Verdict.PASS},
            Beside.NOTHING,
        ),
        (
            "PreToolUse-run_shell_command",
            {Verdict.ALLOW, Verdict.DENY, Verdict.PASS},
            Beside.NOTE | Beside.RULE,
        ),
        ("PostToolUse-run_shell_command", {Verdict.ALLOW, Verdict.PASS}, Beside.NOTE),
    ],
)
def test_only_what_works_is_offered(name: str, verdicts: set[Verdict], beside: Beside) -> None:
    offered = QWEN.choices(read(name))
    assert offered.verdicts == verdicts
    assert offered.beside == beside


def test_after_no_opinion_a_call_runs_and_a_request_opens_the_dialog() -> None:
    assert Verdict.PASS in QWEN.choices(read("PreToolUse-run_shell_command")).runs
    assert not QWEN.choices(read("PermissionRequest-run_shell_command")).runs


@pytest.mark.parametrize(
    ("name", "decision", "written"),
    [
        (
            "PermissionRequest-run_shell_command",
            Decision(Verdict.ALLOW),
            {"decision": {"behavior": "allow"}},
        ),
        (
            "PermissionRequest-run_shell_command",
            Decision(Verdict.DENY, "no"),
            {"decision": {"behavior": "deny", "message": "no"}},
        ),
        (
            "PreToolUse-run_shell_command",
            Decision(Verdict.DENY, "no"),
            {"permissionDecision": "deny", "permissionDecisionReason": "no"},
        ),
        (
            "PostToolUse-run_shell_command",
            Decision(Verdict.ALLOW, note="look"),
            {"additionalContext": "look"},
        ),
    ],
)
def test_a_decision_in_the_agents_words(name: str, decision: Decision, written: object) -> None:
    event = read(name)
    QWEN.check(event, decision)
    specific = {"hookEventName": event.name, **written}  # type: ignore[dict-item]
    assert QWEN.write(event, decision).output == {"hookSpecificOutput": specific}


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("Stop", Verdict.KEEP_GOING), ("UserPromptSubmit", Verdict.DENY)],
)
def test_a_turn_is_blocked_at_the_top_level(name: str, verdict: Verdict) -> None:
    reply = QWEN.write(read(name), Decision(verdict, "go on"))
    assert reply.output == {"decision": "block", "reason": "go on"}


def test_answers_reach_the_model_as_a_refusal_that_states_them() -> None:
    event = read("PermissionRequest-ask_user_question")
    assert event.tool is not None
    answered = merge_answers(event.tool.input, {0: Answer((1,))})
    decision = Decision(Verdict.ALLOW, updated_input=answered)
    QWEN.check(event, decision)
    output = QWEN.write(event, decision).output
    assert output is not None
    told = output["hookSpecificOutput"]["decision"]
    assert told["behavior"] == "deny"
    assert '"Which colour?" = "Blue"' in told["message"]


def test_questions_without_answers_are_not_allowed_away() -> None:
    event = read("PermissionRequest-ask_user_question")
    with pytest.raises(DecisionError):
        QWEN.check(event, Decision(Verdict.ALLOW))
    assert QWEN.write(event, Decision(Verdict.ALLOW)).output is None


def test_a_plan_is_never_granted_by_a_hook() -> None:
    event = read("PermissionRequest-exit_plan_mode")
    with pytest.raises(DecisionError):
        QWEN.check(event, Decision(Verdict.ALLOW))
    assert QWEN.write(event, Decision(Verdict.ALLOW)).output is None


# The settings.


def entries(**more: Any) -> dict[str, Any]:
    return dict(groups(Installation("/a venv/python", "/a venv/crabhook/hook/run.py", **more)))


def test_every_event_is_hooked_or_left_out_for_a_reason() -> None:
    left_out = {name for name, row in QWEN.events.items() if isinstance(row.hook, str)}
    assert set(entries()) == set(QWEN.events) - left_out
    assert left_out == {"PostToolBatch", "MessageDisplay"}


@pytest.mark.parametrize(
    "before",
    [
        "",
        '{\n\t"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}',
        '{"$version": 4,  "general": {"disableAutoUpdate": true}}\n',
    ],
)
@pytest.mark.parametrize("stance", [Stance.COMPANION, Stance.GATE])
def test_uninstalling_gives_the_settings_back_to_the_byte(before: str, stance: Stance) -> None:
    once = with_hooks(before, entries(stance=stance))
    assert with_hooks(once, entries(stance=stance)) == once
    assert count(once) == len(entries())
    assert without_hooks(once).strip("{}\n") == before.strip("{}\n")
    assert not before or without_hooks(once) == before


def test_failing_closed_concerns_calls_alone() -> None:
    for event, group in entries(fail_closed=True).items():
        (handler,) = group["hooks"]
        assert ("--when-lost deny" in handler["command"]) == (event in QWEN.decided)


@pytest.mark.parametrize(
    ("scope", "environment", "expected"),
    [
        (SettingsScope.USER, {"HOME": "/h"}, "/h/.qwen/settings.json"),
        (SettingsScope.USER, {"HOME": "/h", "QWEN_HOME": "/q"}, "/q/settings.json"),
        (SettingsScope.PROJECT, {}, "/p/.qwen/settings.json"),
    ],
)
def test_the_settings_lie_where_qwen_code_looks(
    scope: SettingsScope, environment: dict[str, str], expected: str
) -> None:
    assert str(settings_path(scope, Path("/p"), environment)) == expected


def test_a_switch_that_stops_every_hook_is_named() -> None:
    assert list(switches(json.dumps({"disableAllHooks": True})))
    assert not list(switches(json.dumps({"disableAllHooks": False})))
