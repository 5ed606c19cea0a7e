"""An attack's points, each with the tests that fail if it is so again."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Point:
    """What the attacked program did, and what holds that ours does not."""

    number: int
    part: str
    did: str
    shown: Sequence[str]
    tests: Sequence[str]
    of: str = ""
    found: str = ""

    @property
    def name(self) -> str:
        """Its number, and its own name where several have the number."""
        return f"{self.number} {self.of}".strip()


def points() -> Sequence[Point]:
    """Return all points, in their order."""
    text = (Path(__file__).parent / "points.toml").read_text(encoding="utf-8")
    return [Point(**row) for row in tomllib.loads(text)["point"]]
