"""Text varied word by word: what its grammar knows is put in, taken out, repeated and wrapped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from tests.fuzz.mutation import plain
from tests.fuzz.target import Mutation

_PIECE = re.compile(rb"\w+|\s+|[^\w\s]")


def of(vocabulary: Sequence[str], wraps: Sequence[tuple[str, str]] = ()) -> Mutation:
    """Return the mutation for a language of these words, and of these pairs that enclose others."""
    words = [word.encode("utf-8", "surrogatepass") for word in vocabulary]
    pairs = [(before.encode(), after.encode()) for before, after in wraps]

    def mutated(data: bytes, chance: Random) -> bytes:
        if chance.random() < 0.2:
            return plain.mutated(data, chance)
        pieces = _PIECE.findall(data)
        for _ in range(chance.choice((1, 1, 2, 3))):
            _change(pieces, chance, words, pairs)
        return b"".join(pieces)

    return mutated


def _change(
    pieces: list[bytes],
    chance: Random,
    words: Sequence[bytes],
    pairs: Sequence[tuple[bytes, bytes]],
) -> None:
    at = chance.randint(0, len(pieces))
    end = min(len(pieces), at + chance.choice((1, 1, 2, 5)))
    way = chance.random()
    if way < 0.4:
        pieces.insert(at, chance.choice(words))
    elif way < 0.55:
        pieces[at:end] = [chance.choice(words)]
    elif way < 0.7:
        del pieces[at:end]
    elif way < 0.85 and pairs:
        before, after = chance.choice(pairs)
        pieces[at:end] = [before, *pieces[at:end], after]
    elif way < 0.95:
        to = chance.randint(0, len(pieces))
        pieces[to:to] = pieces[at:end]
    else:
        pieces[at:end] = pieces[at:end] * chance.choice((2, 20, 200))
