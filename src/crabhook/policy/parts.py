"""What a call comes to: parts that rules speak about, each with a text for a person."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from crabhook.model.jsontext import Value
from crabhook.policy.paths import Place
from crabhook.policy.shell.mentions import Mentions
from crabhook.policy.shell.script import Command
from crabhook.policy.shell.whole import Reading
from crabhook.policy.tools import Kind

NO_MENTIONS = Mentions()


class Use(StrEnum):
    """What is done to a file; NAMED: a command is given its name, for good or ill."""

    READ = "read"
    WRITE = "write"
    NAMED = "name"


@dataclass(frozen=True, slots=True)
class CommandPart:
    """One simple command.

    `readings`: the texts by which a rule may allow it; `lines`: every text by
    which one may know it; `tools`: the tools whose bare rules cover it.
    """

    text: str
    command: Command
    readings: tuple[Reading, ...]
    lines: frozenset[str]
    tools: frozenset[str]


@dataclass(frozen=True, slots=True)
class Deep:
    """That a folder is read with all that is in it.

    `globs`: what is read of it, as `globs.alternatives` gives it; none means
    everything.  `follows`: links on the way are followed too.  `split`: the
    names that fit the globs are cut at blanks before they are read.
    """

    globs: tuple[str, ...] = ()
    follows: bool = False
    split: bool = False


@dataclass(frozen=True, slots=True)
class FilePart:
    """One file.

    `places`: where it may be, of which an allow must cover all; none if that
    is not known.  `tools`: whose bare rules are against it.  `glob`: its name
    has wildcards.  `program`: what is given the name.  `own`: the tools whose
    bare rules cover it.  `by`: the command that names it, which covers it too
    where a rule names that without a star.  `deep`: where it is a folder, all
    that is in it is read too.
    """

    text: str
    use: Use
    places: tuple[Place, ...]
    tools: frozenset[str] = frozenset()
    glob: bool = False
    program: str = ""
    own: frozenset[str] = frozenset()
    by: CommandPart | None = None
    deep: Deep | None = None


@dataclass(frozen=True, slots=True)
class FetchPart:
    """One address on the net, by its host name, in small letters."""

    text: str
    host: str
    tools: frozenset[str]


@dataclass(frozen=True, slots=True)
class NamePart:
    """An agent or a skill, called by name; `text` has a skill's arguments too."""

    text: str
    name: str
    tools: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToolPart:
    """The tool itself, with its scalar inputs."""

    text: str
    tools: frozenset[str]
    inputs: Mapping[str, Value] = field(default_factory=dict)


Part: TypeAlias = CommandPart | FilePart | FetchPart | NamePart | ToolPart


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as rules see it.

    `required`: all that an allow must cover.  `suspected`: what counts
    against the call alone.  `troubles`: why no rule may allow it.
    `mentions`: the names in it that may be programs', unseen.
    """

    tool: str
    kind: Kind
    required: tuple[Part, ...]
    suspected: tuple[Part, ...]
    troubles: tuple[str, ...] = ()
    mentions: Mentions = NO_MENTIONS

    @property
    def parts(self) -> tuple[Part, ...]:
        """Everything, what is sure before what is suspected."""
        return (*self.required, *self.suspected)
