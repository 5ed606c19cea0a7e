"""A hook script as facts, in any language.

A JSON value in it is a `ValueShape`: as much as the script's text tells.

What the linter reports is a finding: its place, its severity, its reason.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError


class Severity(IntEnum):
    """How much a finding matters; the greater, the more."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True, order=True)
class SourcePlace:
    """A place in a text: line and column, both from 1, the column in characters."""

    line: int
    column: int


START = SourcePlace(1, 1)


@frozen
class LintRule:
    """A thing that the linter looks for; `means`: the consequence, `do`: the way out."""

    id: str
    severity: Severity
    title: str
    means: str
    do: str


@frozen
class Remark:
    """A finding as a rule's function makes it; which rule it is, the table knows."""

    place: SourcePlace
    message: str


@frozen
class LintFinding:
    """One rule broken at one place of one file."""

    path: Path
    place: SourcePlace
    rule: LintRule
    message: str


class CannotReadError(CrabhookError):
    """The file cannot be read, so nothing is known of it. The text is for a person."""


class CannotParseError(CrabhookError):
    """The file is not what its kind should be, so no agent can use it; `place` says where."""

    def __init__(self, message: str, place: SourcePlace = START) -> None:
        super().__init__(message)
        self.place = place


_WAITERS = frozenset({"timeout", "gtimeout", "sleep"})
_WAIT_OPTIONS = {"crabhook": ("--wait",), "curl": ("--max-time", "-m"), "read": ("-t",)}
WAITING = _WAITERS | {"crabhook", "curl"}
"""The programs whose words say how long they wait, of those that are no shell's own."""

_VALUED = frozenset({"-k", "--kill-after", "-s", "--signal"})
_LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}

# Past and present of refusing, and the words people put in front of a refusal.
_REFUSING = re.compile(
    r"\b(?:block(?:ed|ing|s)?|den(?:y|ied|ies|ying)|refus(?:e|ed|es|ing)|forbid(?:den|s)?"
    r"|reject(?:ed|s|ing)?|prohibit(?:ed|s)?|disallow(?:ed|s)?|not\s+(?:allowed|permitted))\b",
    re.IGNORECASE,
)
_NOT_REFUSING = re.compile(
    r"\b(?:(?:not|never|without|would(?:n't)?|may|could|if)\W*|no\s+)$", re.IGNORECASE
)
_FIRST = re.compile(r"\W*(?:\w+\W+)?$")
_NAMED = re.compile(r"(?:^|_)(?:block|deny|refuse|reject|forbid)(?:_|$)")


class _Unknown(Enum):
    UNKNOWN = "only known when the script runs"


UNKNOWN = _Unknown.UNKNOWN
Literal: TypeAlias = str | int | float | bool | _Unknown | None


@frozen
class ValueShape:
    """One value.

    `members` is None for a value that is no object; each key has its possible shapes. `whole`:
    there are no other members.
    """

    place: SourcePlace
    literal: Literal = UNKNOWN
    members: "Mapping[str, tuple[ValueShape, ...]] | None" = None
    whole: bool = True

    def of(self, *path: str) -> "Iterator[ValueShape]":
        """Yield the possible shapes of the member at `path`; none if it is missing."""
        if not path:
            yield self
            return
        for member in (self.members or {}).get(path[0], ()):
            yield from member.of(*path[1:])

    def literals(self, *path: str) -> "Iterator[tuple[SourcePlace, Literal]]":
        """Yield known values of the member at `path`, with their places."""
        for shape in self.of(*path):
            if shape.literal is not UNKNOWN:
                yield shape.place, shape.literal

    def texts(self, *path: str) -> Iterator[tuple[SourcePlace, str]]:
        """Yield known texts of the member at `path`."""
        for place, literal in self.literals(*path):
            if isinstance(literal, str):
                yield place, literal


def members(shape: ValueShape) -> Iterator[tuple[str, SourcePlace]]:
    """Yield the keys of an object, each with the place of its first value."""
    for key, values in (shape.members or {}).items():
        yield key, values[0].place


class Language(StrEnum):
    """What a script is written in."""

    PYTHON = "Python"
    SHELL = "shell"


class Written(StrEnum):
    """How an answer is put on standard output."""

    JSON = "as JSON"
    REPR = "as Python shows a dict, which is not JSON"
    BROKEN = "as text that begins and ends like JSON and is not"


@frozen
class HookAnswer:
    """Output that is, or should be, a JSON object.

    `shapes`: its possible values; none if unknown. `behind`: the place of plain text that surely
    comes before it.
    """

    place: SourcePlace
    written: Written
    shapes: tuple[ValueShape, ...] = ()
    behind: SourcePlace | None = None


@frozen
class Exit:
    """A place where the script ends itself; `code` is None if unknown.

    `refusing`: the text before it announces a refusal. `answered`: an answer on standard output may
    come before it, and decides. `failing`: it handles an error.
    """

    place: SourcePlace
    code: int | None
    refusing: bool = False
    answered: bool = False
    failing: bool = False


@frozen
class Wait:
    """How long one thing in the script may take, in seconds."""

    place: SourcePlace
    seconds: float
    what: str


@frozen
class Named:
    """A name that the script uses: an input field, a variable, an event."""

    place: SourcePlace
    name: str


class Source(StrEnum):
    """Where a script takes its input from."""

    JSON = "JSON on standard input"
    LINES = "input()"
    ARGUMENTS = "its arguments"
    FILE = "a file"


@frozen
class InputRead:
    """A place where the script takes its input; `guarded`: an error there is handled."""

    place: SourcePlace
    source: Source
    guarded: bool = False


@frozen
class HookScript:
    """What a script's text says it does.

    `words`: its names and texts, to guess its subject. `fields`: what it takes from its input,
    `variables` from its environment. `chatter`: plain text on standard output. `lapses`: each
    `except` that does not end the script, and its effect. `speaks`: it may write on standard error.
    `runs_input`: it runs as shell what the agent sent.
    `unread`: parts that were not understood.
    """

    language: Language
    shebang: str = ""
    answers: tuple[HookAnswer, ...] = ()
    chatter: tuple[SourcePlace, ...] = ()
    exits: tuple[Exit, ...] = ()
    lapses: tuple[Remark, ...] = ()
    waits: tuple[Wait, ...] = ()
    readings: tuple[InputRead, ...] = ()
    fields: tuple[Named, ...] = ()
    variables: tuple[Named, ...] = ()
    words: frozenset[str] = frozenset()
    runs_input: tuple[SourcePlace, ...] = ()
    unread: tuple[SourcePlace, ...] = ()
    speaks: bool = False

    def longest_wait(self) -> Wait | None:
        """Return the longest of its waits."""
        return max(self.waits, key=lambda wait: wait.seconds, default=None)


def refuses(words: str, *, first: bool = False) -> bool:
    """Whether the words say that something is refused; `first`: near their very beginning."""
    for match in _REFUSING.finditer(words):
        before = words[: match.start()]
        if not _NOT_REFUSING.search(before) and (not first or _FIRST.fullmatch(before)):
            return True
    return False


def named_for_refusing(function: str) -> bool:
    """Whether a function's name says that it refuses, as `block` and `deny_call` do."""
    return _NAMED.search(function) is not None


def waited(program: str, words: Sequence[str]) -> tuple[float, str] | None:
    """Return how many seconds a program waits by its own words, and the word; None for no wait.

    Known: crabhook's `--wait`, curl's `-m`, the shell's `read -t`, and programs that only wait.
    """
    name = program.rpartition("/")[2]
    if name in _WAITERS:
        return _seconds(_first_operand(words), name)
    length_and_word = None
    for number, word in enumerate(words):
        for option in _WAIT_OPTIONS.get(name, ()):
            stem = f"{option}=" if option.startswith("--") else option
            if word == option and number + 1 < len(words):
                length_and_word = _seconds(words[number + 1], option)
            elif word.startswith(stem) and word != option:
                length_and_word = _seconds(word.removeprefix(stem), option)
    return length_and_word


def _first_operand(words: Sequence[str]) -> str:
    """Return the first word that is no option of `timeout`, nor an option's value."""
    rest = iter(words)
    for word in rest:
        if word in _VALUED:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _seconds(text: str, what: str) -> tuple[float, str] | None:
    length = _LENGTH.fullmatch(text)
    return (float(length[1]) * _UNITS[length[2]], f"{what} {text}") if length else None
