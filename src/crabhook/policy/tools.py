"""What agents' tools are called and which of their inputs say what they do.

The names are Claude Code's; what other platforms call the same is read as
its Claude name, so that one rule serves them all.
"""

from collections.abc import Mapping
from enum import StrEnum

from crabhook.model.jsontext import Value

ALIASES: Mapping[str, str] = {
    "Task": "Agent",
    "KillShell": "TaskStop",
    # Gemini CLI
    "run_shell_command": "Bash",
    "read_file": "Read",
    "read_many_files": "ReadMany",
    "write_file": "Write",
    "replace": "Edit",
    "glob": "Glob",
    "grep_search": "Grep",
    "search_file_content": "Grep",
    "list_directory": "LS",
    "web_fetch": "WebFetch",
    "google_web_search": "WebSearch",
    "invoke_agent": "Agent",
    "activate_skill": "Skill",
    "ask_user": "AskUserQuestion",
    "exit_plan_mode": "ExitPlanMode",
    # Codex
    "apply_patch": "ApplyPatch",
    "request_user_input": "AskUserQuestion",
}


class Kind(StrEnum):
    """What a tool does, as far as rules tell it apart."""

    COMMAND = "command"
    READ = "read"
    SEARCH = "search"
    EDIT = "edit"
    PATCH = "patch"
    FETCH = "fetch"
    AGENT = "agent"
    SKILL = "skill"
    ASKING = "asking"
    OTHER = "other"


KINDS: Mapping[str, Kind] = {
    "Bash": Kind.COMMAND,
    "Monitor": Kind.COMMAND,
    "Read": Kind.READ,
    "NotebookRead": Kind.READ,
    "ReadMany": Kind.SEARCH,
    "Glob": Kind.SEARCH,
    "Grep": Kind.SEARCH,
    "LS": Kind.SEARCH,
    "Edit": Kind.EDIT,
    "Write": Kind.EDIT,
    "MultiEdit": Kind.EDIT,
    "NotebookEdit": Kind.EDIT,
    "ApplyPatch": Kind.PATCH,
    "WebFetch": Kind.FETCH,
    "Agent": Kind.AGENT,
    "Skill": Kind.SKILL,
    # Released only by an answer, so no rule can allow them (protocol, section 6).
    "AskUserQuestion": Kind.ASKING,
    "ExitPlanMode": Kind.ASKING,
}

COMMAND_TOOLS = frozenset(
    name for name in (*KINDS, *ALIASES) if KINDS.get(ALIASES.get(name, name)) is Kind.COMMAND
)
"""Every name of a tool that runs commands."""

# Where a command is told to run, by the agents whose tools can be told: Gemini CLI's as of today
# and of before, Codex's by its own name and by that of its older tools.  Claude Code's tool passes
# over such an input.
FOLDER_KEYS: Mapping[str, tuple[str, ...]] = {
    "gemini": ("dir_path", "directory"),
    "codex": ("workdir", "cwd"),
}
# The inputs by which a command asks its agent's sandbox for more than it has, or for none.
LOOSENING_KEYS = frozenset(
    {
        "additional_permissions",
        "dangerouslyDisableSandbox",
        "sandbox_permissions",
        "with_escalated_permissions",
    }
)
# The input that holds a tool's path, by the name the agent gives the tool.
OWN_PATH_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("Read", "Edit", "Write", "MultiEdit"), "file_path"),
    **dict.fromkeys(("NotebookRead", "NotebookEdit"), "notebook_path"),
    **dict.fromkeys(("Grep", "Glob", "LS"), "path"),
    **dict.fromkeys(("read_file", "write_file", "replace"), "file_path"),
    **dict.fromkeys(
        ("glob", "grep_search", "search_file_content", "list_directory", "read_many_files"),
        "dir_path",
    ),
}
# All that hold a path for some tool: a second one beside a tool's own is a trouble.
PATH_KEYS = ("file_path", "notebook_path", "absolute_path", "path", "dir_path", "directory")
# Those that a rule must not match as `Tool(key:value)`: their specifier does.
PRIMARY_KEYS = frozenset(
    {"command", "file_path", "notebook_path", "path", "url", "prompt", "pattern", "query"}
)


def canonical(name: str) -> str:
    """Return Claude Code's name of a tool."""
    return ALIASES.get(name, name)


def mcp_name(fields: Mapping[str, Value]) -> str:
    """Return Claude Code's name of an MCP server's tool that Gemini CLI calls, else nothing."""
    context = fields.get("mcp_context")
    if not isinstance(context, dict):
        return ""
    server, tool = context.get("server_name"), context.get("tool_name")
    named = isinstance(server, str) and isinstance(tool, str) and server and tool
    return f"mcp__{server}__{tool}" if named else ""


def kind_of(name: str) -> Kind:
    """Return what the tool of this name, canonical or not, does."""
    return KINDS.get(canonical(name), Kind.OTHER)
