"""For people who write their own hooks: one small program for Claude Code, Gemini CLI and Codex.

    from crabhook.sdk import Answer, PreToolUse, on, run

    @on(PreToolUse)
    def no_force(event: PreToolUse) -> Answer | None:
        if event.tool == "shell" and "push --force" in event.command:
            return event.deny("Never force a push; ask for a review instead.")
        return None

    run(no_force)

A handler is given an event and returns an answer that the event makes
(`allow`, `deny`, `ask`, `context`, `keep_going` ...), or None for no opinion.
docs/how-to/own-hooks.md is the page to start from.
"""

from crabhook.sdk.answer import Answer, Verdict
from crabhook.sdk.dialects.reply import Reply
from crabhook.sdk.event import Event, Unknown
from crabhook.sdk.events import (
    EVENTS,
    AfterModel,
    BeforeModel,
    BeforeToolSelection,
    ConfigChange,
    CwdChanged,
    DirectoryAdded,
    Elicitation,
    ElicitationResult,
    FileChanged,
    InstructionsLoaded,
    Interrupt,
    MessageDisplay,
    Notification,
    PermissionDenied,
    PermissionRequest,
    PostCompact,
    PostModelSwitch,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreModelSwitch,
    PreToolUse,
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
    UserPromptExpansion,
    UserPromptSubmit,
    WorktreeCreate,
    WorktreeRemove,
)
from crabhook.sdk.handler import Handler, on
from crabhook.sdk.operator import ask_operator
from crabhook.sdk.platform import Platform
from crabhook.sdk.reading import find_platform, read_event
from crabhook.sdk.responding import respond
from crabhook.sdk.running import run

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
    "PreModelSwitch",
    "PreToolUse",
    "Reply",
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
