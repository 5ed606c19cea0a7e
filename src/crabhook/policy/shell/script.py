"""The parts of a shell line, as values."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    `raw` is as written.  `values` are what the shell may make of it, the
    likeliest first and never none.  `fixed`: the shell makes `values[0]` of
    it and nothing else.  `tilde`: it begins with an unquoted `~`.  `glob`: it
    has unquoted wildcards.  `parts`: what braces make of it, several words.
    """

    raw: str
    values: tuple[str, ...]
    fixed: bool = True
    tilde: bool = False
    glob: bool = False
    parts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the shell makes of it, at the best guess."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`, before a command or alone."""

    name: str
    value: Word


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command, without its redirects.

    `hidden`: it was found by looking through another one (`sudo`, `bash -c
    '…'`), so it counts against a call but never for it.
    """

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    source: str = ""
    hidden: bool = False


class Flow(StrEnum):
    """Which way a redirect goes; BOTH is `<>`."""

    READ = "read"
    WRITE = "write"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect from or to a file; duplications of descriptors are not kept."""

    flow: Flow
    target: Word
    source: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A whole shell line.

    `troubles` say, in words for a person, why no rule may allow it: what was
    not understood, or could not be known before it runs.  `given` are the
    texts that some of its commands find on their standard input.
    """

    commands: tuple[Command, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    troubles: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
