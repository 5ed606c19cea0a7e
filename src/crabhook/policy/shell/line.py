"""The text of a line while it is read, and what was found in it.

Every byte must be taken by one of the readers beside this module.  Two kinds
of fault end in a question: `Found.trouble` where reading can go on, so that a
denial may still find more, and `UnreadableError` where it cannot.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from crabhook.policy.shell.script import Command, Piece, Redirect, Shape, Word
from crabhook.policy.shell.variables import Variables

MAX_DEPTH = 40  # a person's line has five
MAX_COMMANDS = 500

_BLANKS = re.compile(r"(?:[ \t]|(?:(?<=[ \t\n])|^)\\\n|\\\n(?=[ \t\n]))*")
_PLAIN = re.compile(r"[^ \t\n;&|<>()'\"\\$`]+")
_DELIMITERS = " \t\n;&|<>()"


class UnreadableError(Exception):
    """What follows belongs to no construct that is read; the text says why, for a person."""


@dataclass(slots=True)
class Heredoc:
    """A here-document whose lines are still to come."""

    end: str
    quoted: bool
    tabs: bool


class Found:
    """What one line came to so far; inner texts of the line share it."""

    def __init__(self, known: Mapping[str, Sequence[str]]) -> None:
        self.commands: list[Command] = []
        self.redirects: list[Redirect] = []
        self.settling: set[int] = set()  # places of redirects to variables that the line has set
        self.given: list[str] = []
        self.given_varies = False  # some of what is given is only known when the line runs
        self.variables = Variables(known)
        self._troubles: dict[str, None] = {}

    def trouble(self, reason: str) -> None:
        """Keep a reason why no rule may allow the line."""
        self._troubles[reason] = None

    def trouble_if(self, reason: str) -> None:
        """Keep a reason, if it says anything."""
        if reason:
            self.trouble(reason)

    @property
    def troubles(self) -> tuple[str, ...]:
        """Every reason, those first that were met first."""
        return (*self._troubles, *self.variables.broken())

    def add(self, command: Command) -> None:
        """Keep a command."""
        if len(self.commands) >= MAX_COMMANDS:
            message = f"it has more than {MAX_COMMANDS} commands"
            self.trouble(message)
            raise UnreadableError(message)
        self.commands.append(command)


class PieceReader(Protocol):
    """Takes what stands for a piece of a word; `quoted`: between double quotes."""

    def __call__(self, line: "Line", *, quoted: bool = False) -> Piece:
        """Take it."""
        ...


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads the constructs that may stand inside one another.

    `commands` takes commands up to one of the words given, `dollar` what a
    dollar sign stands for, `quoted` double quotes, `backquoted` backquotes.
    """

    commands: Callable[["Line", frozenset[str]], Shape]
    dollar: PieceReader
    quoted: Callable[["Line"], list[Piece]]
    backquoted: PieceReader


@dataclass
class Line:
    """A text and the place in it."""

    text: str
    found: Found
    readers: Readers
    depth: int = 0
    within: int = 0  # substitutions around it
    scripts: int = 0  # words around it that are scripts
    at: int = 0
    ended: bool = False  # to dash, which takes the & of `&>` for an end
    pending: list[Heredoc] = field(default_factory=list)

    @property
    def here(self) -> str:
        """The next letter; nothing at the end."""
        return self.text[self.at : self.at + 1]

    def ahead(self, text: str) -> bool:
        """Whether the text comes next."""
        return self.text.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Take the text if it comes next."""
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def expect(self, text: str) -> None:
        """Take the text, which must come next."""
        if not self.take(text):
            what = f"{self.text[self.at : self.at + 12]!r}" if self.here else "its end"
            raise UnreadableError(f"{text!r} is missing before {what}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what the pattern fits here."""
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def blanks(self) -> None:
        """Take blanks, and line ends that a backslash takes back."""
        self.match(_BLANKS)

    def plain_word(self) -> str:
        """Return the next word where it has no quotes and expansions; nothing is taken."""
        match = _PLAIN.match(self.text, self.at)
        if not match or (
            match.end() < len(self.text) and self.text[match.end()] not in _DELIMITERS
        ):
            return ""
        return match[0]

    @property
    def ends_word(self) -> bool:
        """Whether no word goes on here."""
        return not self.here or self.here in _DELIMITERS

    @contextmanager
    def nested(self, *, substitution: bool = False) -> Iterator[None]:
        """Hold while something inside something else is read."""
        self.depth += 1
        self.within += substitution
        if self.depth > MAX_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels")
        yield
        self.depth -= 1
        self.within -= substitution

    def inner(self, text: str) -> "Line":
        """Return another text to read into the same findings."""
        if self.depth >= MAX_DEPTH:
            raise UnreadableError(f"it is nested deeper than {MAX_DEPTH} levels")
        return Line(text, self.found, self.readers, self.depth + 1, self.within + 1, self.scripts)

    def crossed(self, start: int) -> None:
        """Say so where a line ended inside a word while a here-document waits for its lines."""
        if self.pending and "\n" in self.text[start : self.at]:
            self.found.trouble("a here-document whose lines shells look for in different places")


def fixed_word(text: str) -> Word:
    """Return a word that means itself."""
    return Word(text, (text,))
