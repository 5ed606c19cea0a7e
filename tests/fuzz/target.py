"""What a fuzz target is: a law over bytes, how its inputs are varied, and where they start from."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TypeAlias

FOLDER = Path(__file__).parent / "targets"

Law: TypeAlias = Callable[[bytes], None]
Mutation: TypeAlias = Callable[[bytes, Random], bytes]
"""Given an input and a source of chance, another input that is like it."""


class TooSlowError(AssertionError):
    """An input that costs more than any may."""


@dataclass(frozen=True, slots=True)
class Target:
    """One boundary.

    `law` takes an input in and raises only where the code under test breaks its word.
    `seeds` are inputs known from elsewhere, beside the committed corpus.
    `most_seconds` of the processor an input may take, and `longest` bytes it may have: an input
    of that length may not cost more, which is how time is part of the law.
    """

    law: Law
    mutation: Mutation
    seeds: Callable[[], Iterable[bytes]] = lambda: ()
    longest: int = 4096
    most_seconds: float = 2.0

    def take(self, data: bytes) -> None:
        """Hold the law to one input."""
        data = data[: self.longest]
        before = time.process_time()
        self.law(data)
        taken = time.process_time() - before
        if taken > self.most_seconds:
            raise TooSlowError(f"{len(data)} bytes took {taken:.1f} s of the processor")


def names() -> list[str]:
    """The targets there are: each is a file in `targets`."""
    return sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def load(name: str) -> Target:
    """The target of that name."""
    found = import_module(f"tests.fuzz.targets.{name}").TARGET
    assert isinstance(found, Target)
    return found


def words(name: str) -> str:
    """What comes in at the target of that name, and its law, as its file says them."""
    text = import_module(f"tests.fuzz.targets.{name}").__doc__ or ""
    return " ".join(text.split())
