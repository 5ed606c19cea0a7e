"""What Codex 0.169 reads (its hook protocol: events, output tables, configuration)."""

from collections.abc import Mapping

from crabhook.lint.protocol.interface import ANY, FREE, Event, Protocol

_CONTEXT = frozenset({"additionalContext"})

_EVENTS: Mapping[str, Event] = {
    "SessionStart": Event(
        _CONTEXT, FREE, frozenset({"startup", "resume", "clear", "compact", "fork"}), silent=True
    ),
    "SessionEnd": Event(matcher=FREE, silent=True, timeout=3),
    "UserPromptSubmit": Event(_CONTEXT),
    "PreToolUse": Event(
        _CONTEXT | {"permissionDecision", "permissionDecisionReason", "updatedInput"}, ANY
    ),
    "PermissionRequest": Event(frozenset({"decision"}), ANY),
    "PostToolUse": Event(_CONTEXT | {"updatedMCPToolOutput"}, ANY),
    "PreCompact": Event(),
    "PostCompact": Event(silent=True),
    "SubagentStart": Event(_CONTEXT, FREE, silent=True),
    "SubagentStop": Event(_CONTEXT, FREE),
    "Stop": Event(_CONTEXT),
    "Interrupt": Event(silent=True, timeout=3),
}

_ELSEWHERE: Mapping[str, str] = {
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "PreCompress": "PreCompact",
    "run_shell_command": "Bash",
    "shell": "Bash",
    "write_file": "apply_patch",
    "replace": "apply_patch",
    "MultiEdit": "apply_patch",
    "AskUserQuestion": "request_user_input",
}

PROTOCOL = Protocol(
    name="codex",
    title="Codex",
    unit=1,
    timeout=600,
    events=_EVENTS,
    # `Write` and `Edit` also hit a patch.
    tools=frozenset({"Bash", "apply_patch", "Write", "Edit", "request_user_input"}),
    mcp="mcp__server__tool",
    nested=frozenset(key for event in _EVENTS.values() for key in event.specific) - {"decision"},
    decisions=frozenset({"block"}),
    permissions=frozenset({"allow", "deny"}),
    elsewhere=_ELSEWHERE,
)
