"""What rules match: tools by their names, and the parts of a call.

The names of tools are Claude Code's; other agents' tools are mapped to them, for common rules.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from crabhook.data_files import names, tables
from crabhook.datatypes import frozen
from crabhook.model.jsontext import Value
from crabhook.policy.paths import NamedFile
from crabhook.vocabulary import vocabulary

if TYPE_CHECKING:  # no rule needs a reader of shell lines before there is a line
    from crabhook.policy.shell.script import SimpleCommand
    from crabhook.policy.shell.unfold import Reading


class CallKind(StrEnum):
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


_TABLES = tables(__file__, "tools")
KINDS: Mapping[str, CallKind] = {
    name: CallKind(kind) for kind, text in _TABLES["kinds"].items() for name in text.split()
}
PATH_KEYS: tuple[str, ...] = tuple(_TABLES["path_keys"].split())
PRIMARY_KEYS = names(_TABLES["primary_keys"])
RUNNING_KEYS = names(_TABLES["running_keys"])
PATCH_KEYS: tuple[str, ...] = tuple(_TABLES["patch_keys"].split())


def canonical(name: str) -> str:
    """Return Claude Code's name of a tool."""
    return vocabulary().aliases.get(name, name)


def command_tools() -> frozenset[str]:
    """Return every name of a tool that runs commands."""
    names = (*KINDS, *vocabulary().aliases)
    return frozenset(name for name in names if kind_of(name) is CallKind.COMMAND)


def mcp_name(fields: Mapping[str, Value]) -> str:
    """Return Claude Code's name of an MCP server's tool that Gemini CLI calls, else nothing."""
    context = fields.get("mcp_context")
    if not isinstance(context, dict):
        return ""
    server, tool = context.get("server_name"), context.get("tool_name")
    named = isinstance(server, str) and isinstance(tool, str) and server and tool
    return f"mcp__{server}__{tool}" if named else ""


def kind_of(name: str) -> CallKind:
    """Return what the tool of this name, canonical or not, does."""
    return KINDS.get(canonical(name), CallKind.OTHER)


class Use(StrEnum):
    """What is done to a file; NAMED: a command is given its name, for good or ill."""

    READ = "read"
    WRITE = "write"
    NAMED = "name"


@frozen
class CommandPart:
    """One simple command.

    `readings`: texts by which a rule may allow it. `lines`: texts by which a denial may match it.
    `tools`: tools whose bare rules cover it.
    """

    kind: ClassVar = "command"
    text: str
    command: "SimpleCommand"
    readings: tuple["Reading", ...]
    lines: frozenset[str]
    tools: frozenset[str]


@frozen
class Deep:
    """A folder is read with all its content.

    `globs`: what is read, as from `context.alternatives`; none means everything. `follows`: links
    are followed. `split`: names are split at blanks before they are read.
    """

    globs: tuple[str, ...] = ()
    follows: bool = False
    split: bool = False


@frozen
class FilePart:
    """One file.

    `places`: where it may be, and an allow must cover all; none if unknown. `tools`: whose bare
    rules are against it. `glob`: its name has wildcards. `program`: the program that gets the name.
    `made`: a command of the line may have made the name, so it may be any file. No rule that names
    a command or a path covers it. `own`: the tools whose bare rules cover it. `by`: the command
    that names it; a rule with that command and no star covers the file too. `deep`: a folder, read
    with all its content. `writes`: the program is known to change or make the file. `computed`: its
    name is only known when the line runs, and nothing shows that it stays below a folder.
    `repository`: a folder whose history git shows.
    """

    text: str
    use: Use
    places: tuple[NamedFile, ...]
    tools: frozenset[str] = frozenset()
    glob: bool = False
    program: str = ""
    own: frozenset[str] = frozenset()
    by: CommandPart | None = None
    deep: Deep | None = None
    writes: bool = False
    made: bool = False
    computed: bool = False
    repository: bool = False

    @property
    def kind(self) -> str:
        """What is done to it, in a word."""
        return str(self.use)


@frozen
class FetchPart:
    """One address on the net, by its host in small letters."""

    kind: ClassVar = "fetch"
    text: str
    host: str
    tools: frozenset[str]


@frozen
class NamePart:
    """An agent or a skill, called by name; `text` has a skill's arguments too."""

    text: str
    name: str
    tools: frozenset[str]

    @property
    def kind(self) -> str:
        """Which of the two it is, in a word."""
        return "agent" if "Agent" in self.tools else "skill"


@frozen
class ToolPart:
    """The tool itself, with its scalar inputs."""

    kind: ClassVar = "tool"
    text: str
    tools: frozenset[str]
    inputs: Mapping[str, Value] = field(default_factory=dict)


Part: TypeAlias = CommandPart | FilePart | FetchPart | NamePart | ToolPart
