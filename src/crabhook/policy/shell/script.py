"""The parts of a shell line, as values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from itertools import islice, product
from posixpath import basename
from typing import TypeAlias


class Kind(Enum):
    """What is known of a piece of a word before the line runs."""

    TEXT = "text"  # all of it
    NUMBER = "number"  # that it is made of digits
    NAME = "name"  # the variable whose value it is
    ANY = "any"  # nothing


@dataclass(frozen=True, slots=True)
class Atom:
    """A piece of a word: `text` is what it is, or the name of its variable.

    `joined`: it cannot become several words, nor the names of files.
    """

    kind: Kind
    text: str = ""
    joined: bool = True


Piece: TypeAlias = tuple[Atom, tuple[str, ...]]
"""A piece of a word, and the texts that it may be."""

MAX_VALUES = 16


def values_of(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return the texts that the pieces of a word may make together, the likeliest first."""
    combinations = islice(product(*(values for _, values in pieces)), MAX_VALUES)
    return tuple(dict.fromkeys("".join(one) for one in combinations)) or ("",)


ANY = Atom(Kind.ANY, joined=False)
WRITTEN = Atom(Kind.ANY, "written in the line", joined=False)
"""What wildcards, braces or a tilde make of a word: the line tells it, and no other command."""
NUMBER = Atom(Kind.NUMBER)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    `raw` is as written.  `values` are what the shell may make of it, the
    likeliest first and never none.  `fixed`: the shell makes `values[0]` of
    it and nothing else.  `tilde`: it begins with an unquoted `~`.  `glob`: it
    has unquoted wildcards.  `parts`: what braces make of it, several words.
    `atoms`: its pieces, in order.  `told`: some of it comes from what a command
    prints, or from the line's own input.  `assigns`: what it sets, as a word of
    `export` and its like.
    """

    raw: str
    values: tuple[str, ...]
    fixed: bool = True
    tilde: bool = False
    glob: bool = False
    parts: tuple[str, ...] = ()
    atoms: tuple[Atom, ...] = field(default=(), compare=False)
    told: bool = field(default=False, compare=False)
    assigns: "Assignment | None" = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """What the shell makes of it, at the best guess."""
        return self.values[0]

    @property
    def is_afar(self) -> bool:
        """Whether it begins in a folder that only the shell knows: `~+`, `~-`, another's home."""
        return self.tilde and not (self.raw == "~" or self.raw.startswith("~/"))


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`, before a command or alone; `array`: `name=(…)` or an element of one."""

    name: str
    value: Word
    array: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command, without its redirects.

    `hidden`: it was found by looking through another one (`sudo`, `bash -c
    '…'`), so it counts against a call but never for it.  `fed`: what it
    prints is read by another command of the line.
    """

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    source: str = ""
    hidden: bool = False
    fed: bool = False


class Flow(StrEnum):
    """Which way a redirect goes; BOTH is `<>`."""

    READ = "read"
    WRITE = "write"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect from or to a file; duplications of descriptors are not kept.

    `settled`: every text that its target can have, where the line itself sets
    the variables in it; none where the target is fixed, or cannot be told.
    """

    flow: Flow
    target: Word
    source: str = ""
    hidden: bool = False
    settled: tuple[str, ...] = ()

    @property
    def written(self) -> tuple[str, ...]:
        """The last parts of the names of the file that it writes; none for `/dev/null`."""
        if self.flow is Flow.READ or self.target.text == "/dev/null":
            return ()
        return tuple(map(basename, (*self.target.values, *self.settled)))


@dataclass(frozen=True, slots=True)
class Script:
    """A whole shell line.

    `troubles` say, in words for a person, why no rule may allow it: what was
    not understood, or could not be known before it runs.  `given` are the
    texts that some of its commands find on their standard input; `varies`:
    one of these is only known when the line runs.
    """

    commands: tuple[Command, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    troubles: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    varies: bool = False


@dataclass(slots=True)
class Shape:
    """What a list of commands prints, as far as its form tells: `last` where it is one pipeline."""

    last: Command | None = None
    mixed: bool = False  # its errors are printed among what it prints
