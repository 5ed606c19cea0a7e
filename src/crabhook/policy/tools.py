"""What agents' tools are called and which of their inputs say what they do.

The names are Claude Code's; what other platforms call the same is read as
its Claude name, so that one rule serves them all.
"""

from collections.abc import Mapping
from enum import StrEnum

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
    # Codex
    "apply_patch": "ApplyPatch",
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

# The inputs that hold a path, in the order in which the first one counts.
PATH_KEYS = ("file_path", "notebook_path", "absolute_path", "path", "dir_path", "directory")
# Those that a rule must not match as `Tool(key:value)`: their specifier does.
PRIMARY_KEYS = frozenset(
    {"command", "file_path", "notebook_path", "path", "url", "prompt", "pattern", "query"}
)


def canonical(name: str) -> str:
    """Return Claude Code's name of a tool."""
    return ALIASES.get(name, name)


def kind_of(name: str) -> Kind:
    """Return what the tool of this name, canonical or not, does."""
    return KINDS.get(canonical(name), Kind.OTHER)
