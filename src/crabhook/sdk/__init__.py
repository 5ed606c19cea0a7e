"""For people who write their own hooks: one small program for every agent that starts hooks.

    from crabhook.sdk import Answer, PreToolUse, on, run

    @on(PreToolUse)
    def no_force(event: PreToolUse) -> Answer | None:
        if event.tool == "shell" and "push --force" in event.command:
            return event.deny("Never force a push; ask for a review instead.")
        return None

    run(no_force)

A handler is given an event and returns an answer that the event makes, such as `allow` or `deny`,
or None for no opinion. The page docs/how-to/own-hooks.md shows how to start.
"""

from crabhook.sdk.event import Answer, Event, Platform, Reply, Unknown, Verdict
from crabhook.sdk.events import EVENTS
from crabhook.sdk.events.calls import (
    PermissionDenied,
    PermissionRequest,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreMcpToolCall,
    PreSkillShellCommand,
    PreToolUse,
)
from crabhook.sdk.events.session import (
    AfterModel,
    BeforeModel,
    BeforeToolSelection,
    ConfigChange,
    CwdChanged,
    DirectoryAdded,
    Elicitation,
    ElicitationResult,
    ErrorOccurred,
    FileChanged,
    InstructionsLoaded,
    Interrupt,
    MessageDisplay,
    Notification,
    PostCompact,
    PostModelSwitch,
    PreCompact,
    PreModelSwitch,
    SessionDelete,
    SessionEnd,
    SessionStart,
    Setup,
    Stop,
    StopFailure,
    SubagentStart,
    SubagentStop,
    TaskCompleted,
    TaskCreated,
    TeammateIdle,
    TodoCompleted,
    TodoCreated,
    UserPromptExpansion,
    UserPromptSubmit,
    WorktreeCreate,
    WorktreeRemove,
)
from crabhook.sdk.operator import ask_operator
from crabhook.sdk.running import Handler, find_platform, on, read_event, respond, run

__all__ = [
    "EVENTS",
    "AfterModel",
    "Answer",
    "BeforeModel",
    "BeforeToolSelection",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "ErrorOccurred",
    "Event",
    "FileChanged",
    "Handler",
    "InstructionsLoaded",
    "Interrupt",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PermissionRequest",
    "Platform",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreMcpToolCall",
    "PreModelSwitch",
    "PreSkillShellCommand",
    "PreToolUse",
    "Reply",
    "SessionDelete",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "TodoCompleted",
    "TodoCreated",
    "Unknown",
    "UserPromptExpansion",
    "UserPromptSubmit",
    "Verdict",
    "WorktreeCreate",
    "WorktreeRemove",
    "ask_operator",
    "find_platform",
    "on",
    "read_event",
    "respond",
    "run",
]
