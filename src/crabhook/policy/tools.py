"""What agents' tools are called and which of their inputs say what they do.

The names are Claude Code's; what other platforms call the same is read as
its Claude name, so that one rule serves them all.
"""

from collections.abc import Mapping
from enum import StrEnum

from crabhook.model.jsontext import Value
from crabhook.vocabulary import vocabulary


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

# All that hold a path for some tool: a second one beside a tool's own is a trouble.
PATH_KEYS = ("file_path", "notebook_path", "absolute_path", "path", "dir_path", "directory")
# Those that a rule must not match as `Tool(key:value)`: their specifier does.
PRIMARY_KEYS = frozenset(
    {"command", "file_path", "notebook_path", "path", "url", "prompt", "pattern", "query"}
)


def canonical(name: str) -> str:
    """Return Claude Code's name of a tool."""
    return vocabulary().aliases.get(name, name)


def command_tools() -> frozenset[str]:
    """Return every name of a tool that runs commands."""
    names = (*KINDS, *vocabulary().aliases)
    return frozenset(name for name in names if kind_of(name) is Kind.COMMAND)


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
