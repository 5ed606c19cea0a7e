"""Every event by the name each platform has for it.

An event that several platforms have is one class, with Claude Code's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.sdk.event import Platform
from crabhook.sdk.events.calls import (
    PermissionDenied,
    PermissionRequest,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
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
    FileChanged,
    InstructionsLoaded,
    Interrupt,
    MessageDisplay,
    Notification,
    PostCompact,
    PostModelSwitch,
    PreCompact,
    PreModelSwitch,
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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.sdk.event import Event

# fmt: off
_CLAUDE = (
    PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, PostToolBatch, PermissionDenied,
    UserPromptSubmit, UserPromptExpansion, Stop, StopFailure, MessageDisplay, Notification,
    SubagentStart, SubagentStop, TeammateIdle, TaskCreated, TaskCompleted,
    Elicitation, ElicitationResult,
    Setup, SessionStart, SessionEnd, PreCompact, PostCompact, PreModelSwitch, PostModelSwitch,
    ConfigChange, InstructionsLoaded, CwdChanged, FileChanged, DirectoryAdded,
    WorktreeCreate, WorktreeRemove,
)
_CODEX = (
    PreToolUse, PermissionRequest, PostToolUse, UserPromptSubmit, Stop, SubagentStart, SubagentStop,
    SessionStart, SessionEnd, PreCompact, PostCompact, Interrupt,
)
# fmt: on

EVENTS: Mapping[Platform, Mapping[str, type[Event]]] = {
    Platform.CLAUDE: {kind.__name__: kind for kind in _CLAUDE},
    Platform.GEMINI: {
        "BeforeTool": PreToolUse,
        "AfterTool": PostToolUse,
        "BeforeAgent": UserPromptSubmit,
        "AfterAgent": Stop,
        "BeforeModel": BeforeModel,
        "AfterModel": AfterModel,
        "BeforeToolSelection": BeforeToolSelection,
        "PreCompress": PreCompact,
        "SessionStart": SessionStart,
        "SessionEnd": SessionEnd,
        "Notification": Notification,
    },
    Platform.CODEX: {kind.__name__: kind for kind in _CODEX},
}
