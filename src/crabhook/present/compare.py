"""Two texts compared line by line: which lines go, which come, which stay."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum

_MOST_COUNTED = 400  # lines of both texts that are compared to be counted
_LIKE = 0.5  # the part of two lines that must be alike for their words to be compared
_MOST_WORDS = 400  # of both lines; comparing may take their number squared
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


class Side(StrEnum):
    """A line's fate: its sign in a unified diff."""

    KEPT = " "
    REMOVED = "-"
    ADDED = "+"


def compared(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Side, str]]:
    """Yield every line of both texts once, in order; the caller bounds the quadratic time."""
    first, last = _alike_around(old, new)
    yield from ((Side.KEPT, line) for line in old[:first])
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    steps = SequenceMatcher(None, before, after).get_opcodes()
    for step, old_from, old_to, new_from, new_to in steps:
        if step == "equal":
            yield from ((Side.KEPT, line) for line in before[old_from:old_to])
        else:
            yield from ((Side.REMOVED, line) for line in before[old_from:old_to])
            yield from ((Side.ADDED, line) for line in after[new_from:new_to])
    yield from ((Side.KEPT, line) for line in old[len(old) - last :])


def counted(old: str, new: str) -> tuple[int, int]:
    """Return how many lines come and how many go, as in the diff; moved lines may count as kept."""
    before, after = _lines(old), _lines(new)
    first, last = _alike_around(before, after)
    before, after = before[first : len(before) - last], after[first : len(after) - last]
    if set(before).isdisjoint(after):  # as in most edits
        return len(after), len(before)
    if len(before) + len(after) > _MOST_COUNTED:
        came, went = Counter(after), Counter(before)
        return (came - went).total(), (went - came).total()
    sides = Counter(side for side, _ in compared(before, after))
    return sides[Side.ADDED], sides[Side.REMOVED]


def _alike_around(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    first = _alike_at_first(old, new)
    return first, _alike_at_first(old[first:][::-1], new[first:][::-1])


def _alike_at_first(old: Sequence[str], new: Sequence[str]) -> int:
    for place, (old_line, new_line) in enumerate(zip(old, new, strict=False)):
        if old_line != new_line:
            return place
    return min(len(old), len(new))


def changed_words(line: str, other: str) -> list[tuple[bool, str]]:
    """Return a line in pieces, each flagged if the other line lacks its words.

    Lines that are too different or too long have no flags.
    """
    mine, theirs = _WORD.findall(line), _WORD.findall(other)
    if len(mine) + len(theirs) <= _MOST_WORDS:
        matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
        if matcher.ratio() >= _LIKE:
            steps = ((step, "".join(mine[a:b])) for step, a, b, _, _ in matcher.get_opcodes())
            return [(step != "equal", text) for step, text in steps if text] or [(False, line)]
    return [(False, line)]


def line_count(text: str) -> int:
    """Return how many lines a text has; a newline at its end begins no other."""
    return len(_lines(text))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
