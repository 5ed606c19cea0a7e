"""What Codex 0.169 reads (its hook protocol: events, output tables, configuration)."""

from collections.abc import Mapping

from crabhook.platforms.codex.events import EVENTS
from crabhook.platforms.protocol import Protocol

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

_EVENTS = {name: row.reads for name, row in EVENTS.items()}

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
    folder=".codex",
    suffix=".toml",
    switches=((("features", "hooks"), False, "it switches every hook off"),),
    names="_|",
    heeds_silence=False,
)
