"""What a section of the bench is asked for, and what it gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for on the command line: rounds, and numbers of requests that wait."""

    rounds: int
    waiting: Sequence[int]


@dataclass(frozen=True, slots=True)
class Series:
    """What one thing costs as one size grows: seconds at each size, the smallest size first."""

    grows: str
    what: str
    costs: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Found:
    """A section's figures: as text for people, as values for programs, as series for the fit."""

    text: str
    values: Mapping[str, Any]
    series: Sequence[Series] = field(default=())
