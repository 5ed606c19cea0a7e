"""The table of events, held against the protocol's own list."""

from typing import Any

from crabhook.model.card import Stance
from crabhook.model.event import EndScope, Event, ToolCall
from crabhook.platforms.claude.events import ASKING_TOOLS, EVENTS, asks, held
from crabhook.platforms.event_table import Also, Held
from tests.support.rows import every_row

# The hook protocol's list, version 2.1.332.
PROTOCOL = """
    PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit
    UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop
    PreCompact PostCompact PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied
    Setup TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange
    WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged DirectoryAdded
    MessageDisplay PreSkillShellCommand
""".split()  # noqa: SIM905 - a list of names reads best so
HELD = {"PreToolUse", "PermissionRequest", "PreSkillShellCommand"}
NEVER = {
    *{"StopFailure", "MessageDisplay", "Notification", "SessionEnd", "PostCompact"},
    *{"InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded"},
    *{"WorktreeCreate", "WorktreeRemove"},
}
CLOSES = {
    "PostToolUse": EndScope.CALL,
    "PostToolUseFailure": EndScope.CALL,
    "PermissionDenied": EndScope.CALL,
    "PostToolBatch": EndScope.AGENT,
    "UserPromptSubmit": EndScope.AGENT,
    "Stop": EndScope.AGENT,
    "StopFailure": EndScope.AGENT,
    "SubagentStop": EndScope.AGENT,
    "SessionEnd": EndScope.SESSION,
}


def event(name: str, tool: str = "Bash", tool_input: Any = None, mode: str = "") -> Event:
    called = ToolCall(tool, tool_input) if tool else None
    return Event("claude", name, tool=called, permission_mode=mode)


def test_the_table_holds_the_protocols_34_events() -> None:
    assert len(PROTOCOL) == 34
    assert set(EVENTS) == set(PROTOCOL)


@every_row("name", [*PROTOCOL, "Brand-New", "", "pretooluse"])
def test_an_event_waits_always_or_when_asked_to_or_never(name: str) -> None:
    expected = (
        Held.ALWAYS
        if name in HELD
        else Held.NEVER
        if name in NEVER or name not in PROTOCOL
        else Held.ALWAYS
        if name == "Elicitation"
        else Held.ON_REQUEST
    )
    assert held(event(name), Stance.GATE) is expected
    assert bool(EVENTS[name].verdicts) == (expected is not Held.NEVER)


def test_a_companion_leaves_forms_to_the_agents_own_dialog_unless_asked() -> None:
    assert held(event("Elicitation"), Stance.COMPANION) is Held.ON_REQUEST


@every_row("name", PROTOCOL)
def test_a_supervisor_is_told_whether_a_turn_may_end_and_all_else_is_as_at_the_gate(
    name: str,
) -> None:
    ends = name in ("Stop", "SubagentStop")
    expected = Held.ALWAYS if ends else held(event(name), Stance.GATE)
    assert held(event(name), Stance.SUPERVISOR) is expected


def test_what_asks_a_person_is_known() -> None:
    asking = [event("PreToolUse", "AskUserQuestion"), event("PermissionRequest", "ExitPlanMode")]
    assert all(map(asks, [*asking, event("Elicitation", "")]))
    assert not asks(event("PreToolUse"))


@every_row("name", [*PROTOCOL, "Brand-New"])
def test_every_event_closes_what_it_should(name: str) -> None:
    assert EVENTS[name].closes == CLOSES.get(name, EndScope.NOTHING)


# What the real program does something with: `make conformance` has the proof.
CONTEXT = """
    PreToolUse PostToolUse PostToolUseFailure PostToolBatch UserPromptSubmit UserPromptExpansion
    SessionStart SubagentStart PostModelSwitch
""".split()  # noqa: SIM905 - as above


def test_only_events_whose_context_reaches_the_model_take_it() -> None:
    assert {name for name, rule in EVENTS.items() if Also.CONTEXT in rule.also} == set(CONTEXT)


HALTED = """
    PreToolUse PermissionRequest PostToolUse PostToolBatch UserPromptSubmit UserPromptExpansion
    Stop TeammateIdle PreSkillShellCommand
""".split()  # noqa: SIM905 - as above
SHOWN = """
    PreToolUse PostToolUse PostToolUseFailure PostToolBatch UserPromptSubmit UserPromptExpansion
    Stop SubagentStart SubagentStop TeammateIdle SessionStart PreModelSwitch PostModelSwitch
""".split()  # noqa: SIM905 - as above


def test_only_events_that_end_the_turn_are_halted_and_only_shown_messages_are_sent() -> None:
    for part, carrying in ((Also.HALT, HALTED), (Also.USER, SHOWN)):
        assert {name for name, rule in EVENTS.items() if part in rule.also} == set(carrying)


def test_only_a_silent_worktree_hook_decides_by_being_silent() -> None:
    assert {name for name, rule in EVENTS.items() if rule.silence_decides} == {"WorktreeCreate"}


MODES = ["", "default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions", "new"]


@every_row("mode", MODES)
@every_row("tool", ["Bash", "AskUserQuestion", "ExitPlanMode", ""])
def test_a_gate_holds_both_events_in_every_mode(tool: str, mode: str) -> None:
    assert all(held(event(name, tool, mode=mode), Stance.GATE) is Held.ALWAYS for name in HELD)


@every_row("mode", MODES)
@every_row("tool", ["Bash", "AskUserQuestion", "ExitPlanMode", ""])
def test_a_companion_holds_prompts_what_rules_speak_of_and_the_asking_tools_where_none_follows(
    tool: str, mode: str
) -> None:
    assert held(event("PermissionRequest", tool, mode=mode), Stance.COMPANION) is Held.ALWAYS
    unasked = mode == "dontAsk" and tool in ASKING_TOOLS
    expected = Held.ALWAYS if unasked else Held.BY_RULE
    assert held(event("PreToolUse", tool, mode=mode), Stance.COMPANION) is expected
