"""The parts of a shell line, as values."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from itertools import islice, product, takewhile
from posixpath import basename

from crabhook.datatypes import frozen


class AtomKind(Enum):
    """A piece of a word, as far as it is known before the line runs."""

    TEXT = "text"  # all of it
    NUMBER = "number"  # that it is made of digits
    NAME = "name"  # the variable whose value it is
    ANY = "any"  # nothing


@frozen
class Atom:
    """A piece of a word: `text` is its text, or the name of its variable.

    `joined`: it cannot become several words or names of files. `values`: the texts that it may be,
    the likeliest first; a guess.
    """

    kind: AtomKind
    text: str = ""
    joined: bool = True
    values: tuple[str, ...] = field(default=("",), compare=False)


MAX_VALUES = 16
LONGEST_GUESS = 8 * 1024  # letters; variables made of variables would double it each time


def values_of(atoms: Iterable[Atom]) -> tuple[str, ...]:
    """Return the texts that the pieces of a word may make together, the likeliest first."""
    combinations = islice(product(*(atom.values for atom in atoms)), MAX_VALUES)
    return tuple(dict.fromkeys("".join(pieces)[:LONGEST_GUESS] for pieces in combinations)) or ("",)


def written(text: str) -> Atom:
    """Return a piece that is surely this text."""
    return Atom(AtomKind.TEXT, text, values=(text,))


ANY = Atom(AtomKind.ANY, joined=False)
WRITTEN = Atom(AtomKind.ANY, "written in the line", joined=False)
"""What wildcards, braces or a tilde make of a word: the line tells it, and no other command."""
PRINTED = Atom(AtomKind.ANY, "printed by a command", joined=False)
"""What a command of the line prints, or the line's input holds."""
KNOWN = Atom(AtomKind.ANY, "one of its values", joined=False)
"""What a command prints where its words tell that: its `values` are all that it can be."""
NUMBER = Atom(AtomKind.NUMBER, values=("0", ""))
_OPEN = re.compile("-?|--[^=]*")  # the beginning of an unknown word that may be any option


@frozen
class ShellWord:
    """One word of a command.

    `raw` is as written. `values`: what the shell may make of it, likeliest first, never empty.
    `fixed`: surely `values[0]`. `tilde`: an unquoted `~` at its start. `glob`: unquoted wildcards.
    `parts`: the several words of its braces. `atoms`: its pieces, in order. `computed`: a part
    comes from a command's output or the line's input. `free`: a part of it comes from elsewhere.
    `names`: every text that it can be, where the line tells all of them, none for a fixed word.
    `assigns`: what it sets, as a word of `export` or `declare`.
    """

    raw: str
    values: tuple[str, ...]
    fixed: bool = True
    tilde: bool = False
    glob: bool = False
    parts: tuple[str, ...] = ()
    atoms: tuple[Atom, ...] = field(default=(), compare=False)
    computed: bool = field(default=False, compare=False)
    free: bool = field(default=False, compare=False)
    names: tuple[str, ...] = field(default=(), compare=False)
    assigns: "Assignment | None" = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """The shell's likeliest text for it."""
        return self.values[0]

    @property
    def is_afar(self) -> bool:
        """Whether it begins in a folder that only the shell knows: `~+`, `~-`, another's home."""
        return self.tilde and not (self.raw == "~" or self.raw.startswith("~/"))

    @property
    def begins_open(self) -> bool:
        """Whether it is only known when the line runs, and may then be any option."""
        if self.fixed or self.raw[:2] in ("<(", ">("):
            return False
        names = [name for name in self.names if name]
        is_listed = names and not (self.glob or self.parts)
        if is_listed and not any(name[0] in "-+*?[{" or set(name) & set(" \t\n") for name in names):
            return False
        if self.glob or self.parts:
            return self.raw[:1] in ("*", "?", "[", "{")
        texts = takewhile(lambda atom: atom.kind is AtomKind.TEXT, self.atoms)
        beginning = "".join(atom.text for atom in texts)
        return _OPEN.fullmatch(beginning) is not None and self.atoms[:1] != (NUMBER,)


@frozen
class Assignment:
    """`name=value`, before a command or alone; `array`: `name=(…)` or an element of one."""

    name: str
    value: ShellWord
    array: bool = False

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The pieces of its value; nothing is known of an array's."""
        return (ANY,) if self.array else self.value.atoms


LAST = 2**31


@frozen
class Span:
    """When a part of a line runs, in the order of the line's commands.

    `begins` and `ends`: it runs no earlier and no later than these. `at`: the place of the command
    that it is, or is hidden in. `again`: it may run several times. The default is a part that may
    run at any time.
    """

    begins: int = 0
    ends: int = LAST
    at: int = -1
    again: bool = True


ANY_TIME = Span()


@frozen
class SimpleCommand:
    """One simple command, without its redirects.

    `hidden`: found inside another command (`sudo`, `bash -c '…'`), so it counts only against a
    call. `fed`: another command of the line reads its output. `span`: when it runs.
    """

    words: tuple[ShellWord, ...]
    assignments: tuple[Assignment, ...] = ()
    source: str = ""
    hidden: bool = False
    fed: bool = False
    span: Span = field(default=ANY_TIME, compare=False)


class Flow(StrEnum):
    """Which way a redirect goes; BOTH is `<>`."""

    READ = "read"
    WRITE = "write"
    BOTH = "both"


@frozen
class Redirect:
    """A redirect from or to a file; duplicated descriptors are not kept.

    `settled`: every text of a target with the line's own variables; none for a fixed or unknown
    target. `span`: when the shell opens the file.
    """

    flow: Flow
    target: ShellWord
    source: str = ""
    hidden: bool = False
    settled: tuple[str, ...] = ()
    span: Span = field(default=ANY_TIME, compare=False)

    @property
    def written(self) -> tuple[str, ...]:
        """The last parts of the names of the file that it writes; none for `/dev/null`."""
        if self.flow is Flow.READ or self.target.text == "/dev/null":
            return ()
        return tuple(map(basename, (*self.target.values, *self.settled)))


@frozen
class Script:
    """A whole shell line.

    `troubles` say, in words for a person, why no rule may allow it. `inputs`: the texts on standard
    input of its commands. `varies`: one of these is unknown until the line runs. `assigned`: the
    texts that it puts into variables. `unfit`: the variables whose value may be more than a number,
    which a script inside the line inherits. `texts`: all that variables can be, where the line
    tells it. `nested`: the commands of scripts inside it, which are among its commands too.
    """

    commands: tuple[SimpleCommand, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    troubles: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    varies: bool = False
    assigned: tuple[str, ...] = ()
    unfit: frozenset[str] = frozenset()
    nested: tuple[SimpleCommand, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class OutputShape:
    """What a list of commands prints, by its form: `last` for one pipeline."""

    last: SimpleCommand | None = None
    mixed: bool = False  # its errors are printed among what it prints
