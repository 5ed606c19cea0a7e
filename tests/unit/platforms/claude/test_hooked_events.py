"""Every event has exactly one treatment."""

from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.event_table import Held, Patience, decided
from crabhook.platforms.installation import observed, waiting

DECIDED = decided(EVENTS)
HOLDABLE = waiting(EVENTS)
OBSERVED = {name: EVENTS[name].hook for name in observed(EVENTS)}
LEFT_OUT = {name for name, row in EVENTS.items() if isinstance(row.hook, str)}

# Claude Code 2.1.332.
ALL = {
    "PreToolUse",
    "PreSkillShellCommand",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
}
DECIDING = {"PreToolUse", "PermissionRequest", "PreSkillShellCommand"}


def test_every_event_of_the_protocol_is_decided_observed_or_left_out() -> None:
    assert len(ALL) == 34
    assert DECIDING | set(HOLDABLE) | set(OBSERVED) | set(LEFT_OUT) == ALL
    assert len(DECIDING) + len(HOLDABLE) + len(OBSERVED) + len(LEFT_OUT) == len(ALL)


def test_what_can_be_held_is_what_the_table_of_events_can_hold() -> None:
    can_wait = {name for name, rule in EVENTS.items() if rule.held is not Held.NEVER}
    assert set(HOLDABLE) == can_wait - DECIDING


def test_only_the_permission_events_and_a_skills_lines_are_decided() -> None:
    assert set(DECIDED) == DECIDING


def test_the_event_whose_silence_is_an_answer_is_left_out() -> None:
    assert "WorktreeCreate" in LEFT_OUT


def test_the_client_gives_up_before_the_agent_kills_it() -> None:
    given = [row.hook for row in EVENTS.values() if isinstance(row.hook, Patience)]
    assert all(0 < patience.client < patience.timeout for patience in given)


def test_the_end_of_a_session_is_not_held_longer_than_without_us() -> None:
    patience = OBSERVED["SessionEnd"]
    assert isinstance(patience, Patience)
    assert patience.timeout <= 1.5
