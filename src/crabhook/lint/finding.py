"""What the linter says: a finding, where it is, how much it matters; and why it says nothing."""

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

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
class Place:
    """A place in a text: line and column, both from 1, the column in characters."""

    line: int
    column: int


START = Place(1, 1)


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing the linter looks for.

    `means`: what it comes to for the person who relies on the hook.  `do`: the way out.
    """

    id: str
    severity: Severity
    title: str
    means: str
    do: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding as a rule's function makes it; which rule it is, the table knows."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule broken at one place of one file."""

    path: Path
    place: Place
    rule: Rule
    message: str


class CannotReadError(CrabhookError):
    """The file cannot be read at all, so nothing is known about it.  Written for a person."""


class CannotParseError(CrabhookError):
    """The file is not what its kind should be, so no agent can use it; `place` says where."""

    def __init__(self, message: str, place: Place = START) -> None:
        super().__init__(message)
        self.place = place
