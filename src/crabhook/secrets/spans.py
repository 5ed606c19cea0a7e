"""Places in a text, found fast."""

from collections.abc import Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """Where a secret stands: from, up to, and what kind of secret it is.

    Its first `shown` letters tell whose secret it is and are none themselves.
    """

    start: int
    stop: int
    kind: str
    shown: int = 0


def lowered(text: str) -> str:
    """Return `text` in lower case, every character in its own place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def places(text: str, word: str) -> Iterator[int]:
    """Return every place where `word` stands in `text`."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def united(spans: list[Span]) -> Iterator[Span]:
    """Return the spans in order, those that overlap as one, of the kind that was listed first."""
    joined: list[tuple[int, int, int, str]] = []
    for start, stop, rank, kind in sorted(
        (span.start, span.stop, rank, span.kind) for rank, span in enumerate(spans)
    ):
        if joined and start < joined[-1][1]:
            before = joined.pop()
            best = min(before[2:], (rank, kind))
            joined.append((before[0], max(before[1], stop), *best))
        else:
            joined.append((start, stop, rank, kind))
    return (Span(start, stop, kind) for start, stop, _, kind in joined)
