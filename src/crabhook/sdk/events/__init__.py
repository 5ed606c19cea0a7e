"""Every event by each platform's name; a shared event is one class, with Claude Code's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.sdk.event import Event, Platform
from crabhook.sdk.events import calls, session

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS: Mapping[str, type[Event]] = {
    name: kind
    for module in (calls, session)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, Event)
}
_CLAUDE = """
    PreToolUse PermissionRequest PostToolUse PostToolUseFailure PostToolBatch PermissionDenied
    UserPromptSubmit UserPromptExpansion Stop StopFailure MessageDisplay Notification
    SubagentStart SubagentStop TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult
    Setup SessionStart SessionEnd PreCompact PostCompact PreModelSwitch PostModelSwitch
    ConfigChange InstructionsLoaded CwdChanged FileChanged DirectoryAdded
    WorktreeCreate WorktreeRemove PreSkillShellCommand
"""
_CODEX = """
    PreToolUse PermissionRequest PostToolUse UserPromptSubmit Stop SubagentStart SubagentStop
    SessionStart SessionEnd PreCompact PostCompact Interrupt
"""
_QWEN = """
    PreToolUse PermissionRequest PostToolUse PostToolUseFailure PostToolBatch PermissionDenied
    UserPromptSubmit UserPromptExpansion Stop StopFailure MessageDisplay Notification
    SubagentStart SubagentStop TodoCreated TodoCompleted SessionStart SessionEnd SessionDelete
    PreCompact PostCompact InstructionsLoaded
"""
_COPILOT = """
    PreToolUse PermissionRequest PostToolUse PostToolUseFailure PreMcpToolCall UserPromptSubmit
    Stop Notification ErrorOccurred SubagentStart SubagentStop SessionStart SessionEnd PreCompact
"""
_GEMINI = {
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "BeforeModel": "BeforeModel",
    "AfterModel": "AfterModel",
    "BeforeToolSelection": "BeforeToolSelection",
    "PreCompress": "PreCompact",
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
    "Notification": "Notification",
}

EVENTS: Mapping[Platform, Mapping[str, type[Event]]] = {
    Platform.CLAUDE: {name: _KINDS[name] for name in _CLAUDE.split()},
    Platform.GEMINI: {name: _KINDS[ours] for name, ours in _GEMINI.items()},
    Platform.CODEX: {name: _KINDS[name] for name in _CODEX.split()},
    Platform.QWEN: {name: _KINDS[name] for name in _QWEN.split()},
    Platform.COPILOT: {name: _KINDS[name] for name in _COPILOT.split()},
}
