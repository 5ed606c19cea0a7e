"""A row of messages, varied message by message: a byte that says which, two of length, the message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import TypeAlias

from tests.fuzz.mutation import plain
from tests.fuzz.target import Mutation

Row: TypeAlias = "list[tuple[int, bytes]]"


def split(data: bytes) -> Row:
    """Return which each is, and its message; the last may be broken off."""
    row: Row = []
    while data:
        end = 3 + int.from_bytes(data[1:3], "big")
        row.append((data[0], data[3:end]))
        data = data[end:]
    return row


def joined(row: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the messages as bytes; one that is too long is left out."""
    return b"".join(
        bytes((which,)) + len(one).to_bytes(2, "big") + one
        for which, one in row
        if len(one) < 65536
    )


def of(fresh: Callable[[Random], tuple[int, bytes]]) -> Mutation:
    """Return the mutation; `fresh` makes another message of any kind."""

    def mutated(data: bytes, chance: Random) -> bytes:
        row = split(data)
        for _ in range(chance.choice((1, 1, 2, 3))):
            at, way = chance.randint(0, len(row)), chance.random()
            if way < 0.4 or at == len(row):
                row.insert(at, fresh(chance))
            elif way < 0.65:
                row[at] = row[at][0], plain.mutated(row[at][1], chance)
            elif way < 0.75:
                row[at] = chance.randrange(256), row[at][1]
            elif way < 0.9:
                row.insert(chance.randint(0, len(row)), row[at])
            else:
                del row[at]
        return joined(row)

    return mutated
