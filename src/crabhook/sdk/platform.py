"""The agents whose hooks can be written with this library, and their tools by one name."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.jsontext import Value


class Platform(StrEnum):
    """A dialect of hook protocol, by the name that crabhook's own hook calls it."""

    CLAUDE = "claude"
    GEMINI = "gemini"
    CODEX = "codex"


_CLAUDE, _GEMINI, _CODEX = Platform.CLAUDE, Platform.GEMINI, Platform.CODEX

# The first name is today's; the others are older ones that may still arrive.
# Codex's apply_patch is not here: it edits many files, and its input is a patch.
COMMON: Mapping[str, Mapping[Platform, tuple[str, ...]]] = {
    "shell": {_CLAUDE: ("Bash",), _GEMINI: ("run_shell_command",), _CODEX: ("Bash",)},
    "read_file": {_CLAUDE: ("Read",), _GEMINI: ("read_file",)},
    "write_file": {_CLAUDE: ("Write",), _GEMINI: ("write_file",)},
    "edit_file": {_CLAUDE: ("Edit",), _GEMINI: ("replace",)},
    "glob": {_CLAUDE: ("Glob",), _GEMINI: ("glob",)},
    "grep": {_CLAUDE: ("Grep",), _GEMINI: ("grep_search", "search_file_content")},
    "web_fetch": {_CLAUDE: ("WebFetch",), _GEMINI: ("web_fetch",)},
    "web_search": {_CLAUDE: ("WebSearch",), _GEMINI: ("google_web_search",)},
    "task": {_CLAUDE: ("Agent", "Task"), _GEMINI: ("invoke_agent",)},
    "ask_user": {
        _CLAUDE: ("AskUserQuestion",),
        _GEMINI: ("ask_user",),
        _CODEX: ("request_user_input",),
    },
    "exit_plan_mode": {_CLAUDE: ("ExitPlanMode",), _GEMINI: ("exit_plan_mode",)},
    "write_todos": {_CLAUDE: ("TodoWrite",), _GEMINI: ("write_todos",)},
}

_BY_OWN_NAME = {
    (platform, own): name
    for name, platforms in COMMON.items()
    for platform, owns in platforms.items()
    for own in owns
}


def common_name(platform: Platform, own: str, mcp_context: Value = None) -> str:
    """Return the tool's common name; a tool without one keeps its own, letter for letter.

    A tool of an MCP server is `mcp__SERVER__TOOL` everywhere.  Gemini says
    which server and tool it is beside the name, in `mcp_context`.
    """
    if platform is _GEMINI and isinstance(mcp_context, dict):
        server, tool = mcp_context.get("server_name"), mcp_context.get("tool_name")
        if isinstance(server, str) and isinstance(tool, str):
            return f"mcp__{server}__{tool}"
    return _BY_OWN_NAME.get((platform, own), own)
