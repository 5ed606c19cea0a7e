"""Two texts compared line by line: which lines go, which come, which stay."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum


class Side(StrEnum):
    """What becomes of a line: the sign before it in a unified diff."""

    KEPT = " "
    REMOVED = "-"
    ADDED = "+"


def compared(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Side, str]]:
    """Yield every line of both texts once, in order; what goes stands before what comes.

    Its time may grow with the square of the number of lines, so the caller bounds them.
    """
    for step, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new).get_opcodes():
        if step == "equal":
            yield from ((Side.KEPT, line) for line in old[old_from:old_to])
        else:
            yield from ((Side.REMOVED, line) for line in old[old_from:old_to])
            yield from ((Side.ADDED, line) for line in new[new_from:new_to])


def counted(old: str, new: str) -> tuple[int, int]:
    """Return how many lines come and how many go, wherever in the texts they stand."""
    before, after = Counter(_lines(old)), Counter(_lines(new))
    return (after - before).total(), (before - after).total()


def line_count(text: str) -> int:
    """Return how many lines a text has; a newline at its end begins no other."""
    return len(_lines(text))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
