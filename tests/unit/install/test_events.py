"""Every event has exactly one treatment."""

import pytest

from crabhook.install.events import DECIDED, LEFT_OUT, OBSERVED
from crabhook.model.request import Stance

# Claude Code 2.1.330.
ALL = {
    "PreToolUse",
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
DECIDING = {"PreToolUse", "PermissionRequest"}


def test_every_event_of_the_protocol_is_decided_observed_or_left_out() -> None:
    assert len(ALL) == 33
    assert DECIDING | set(OBSERVED) | set(LEFT_OUT) == ALL
    assert len(DECIDING) + len(OBSERVED) + len(LEFT_OUT) == len(ALL)


@pytest.mark.parametrize("stance", Stance)
def test_only_the_two_permission_events_are_decided(stance: Stance) -> None:
    assert set(DECIDED[stance]) <= DECIDING


def test_the_event_whose_silence_is_an_answer_is_left_out() -> None:
    assert "WorktreeCreate" in LEFT_OUT


def test_the_client_gives_up_before_the_agent_kills_it() -> None:
    assert all(0 < patience.client < patience.timeout for patience in OBSERVED.values())


def test_the_end_of_a_session_is_not_held_longer_than_without_us() -> None:
    assert OBSERVED["SessionEnd"].timeout <= 1.5
