"""A JSON value as far as a script's text tells it: the rest is known when the script runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from crabhook.lint.finding import Place


class _Unknown(Enum):
    UNKNOWN = "only known when the script runs"


UNKNOWN = _Unknown.UNKNOWN
Literal: TypeAlias = str | int | float | bool | _Unknown | None


@dataclass(frozen=True, slots=True)
class Shape:
    """One value.

    `members` is None for whatever is no object; each key has the shapes its
    value may take.  `whole`: the object has no members but these.
    """

    place: Place
    literal: Literal = UNKNOWN
    members: "Mapping[str, tuple[Shape, ...]] | None" = None
    whole: bool = True

    def of(self, *path: str) -> "Iterator[Shape]":
        """Yield the shapes that the member at `path` may take; none where it is not there."""
        if not path:
            yield self
            return
        for member in (self.members or {}).get(path[0], ()):
            yield from member.of(*path[1:])

    def literals(self, *path: str) -> "Iterator[tuple[Place, Literal]]":
        """Yield what the member at `path` is known to be, and where that is written."""
        for shape in self.of(*path):
            if shape.literal is not UNKNOWN:
                yield shape.place, shape.literal

    def texts(self, *path: str) -> Iterator[tuple[Place, str]]:
        """Yield the texts that the member at `path` is known to be."""
        for place, literal in self.literals(*path):
            if isinstance(literal, str):
                yield place, literal


@dataclass(frozen=True, slots=True)
class Member:
    """A key of an object, the place where it is written, and what it may be."""

    key: str
    place: Place
    values: tuple[Shape, ...] = field(default=())


def members(shape: Shape) -> Iterator[Member]:
    """Yield the members of an object."""
    for key, values in (shape.members or {}).items():
        yield Member(key, values[0].place, values)
