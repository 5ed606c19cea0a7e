"""Styled lines, and long texts of them that are laid out only as far as they are looked at."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from crabhook.ui.full.letters import Speller, cells, clip

Span: TypeAlias = tuple[str, str]
"""The name of a style (see `style`), and the text that wears it."""

Line: TypeAlias = list[Span]

MOST_AT_ONCE = 8_000  # rows laid out by one key; a longer way down takes several


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a text is laid out on: how wide it is, and how agents' letters are spelt there."""

    columns: int
    spell: Speller

    @property
    def inner(self) -> int:
        """The columns left beside the bar that marks an agent's own text."""
        return max(self.columns - 2, 8)


class Paper:
    """Rows of a text, made when they are first looked at and then kept."""

    def __init__(self, rows: Iterable[Line]) -> None:
        self._source: Iterator[Line] = iter(rows)
        self._rows: list[Line] = []
        self.whole = False

    def __repr__(self) -> str:
        return f"<Paper {len(self._rows)} rows{'' if self.whole else ' and more'}>"

    def reach(self, row: int) -> int:
        """Lay out the rows before `row`, within bounds; return how many there are so far."""
        missing = min(row - len(self._rows), MOST_AT_ONCE)
        if missing > 0 and not self.whole:
            added = list(islice(self._source, missing))
            self._rows += added
            self.whole = len(added) < missing
        return len(self._rows)

    def rows(self, top: int, count: int) -> Sequence[Line]:
        """Return at most `count` rows from row `top` on."""
        self.reach(top + count + 1)
        return self._rows[top : top + count]


def line_cells(line: Line) -> int:
    """Return how many cells a line takes."""
    return sum(cells(text) for _, text in line)


def clip_line(line: Line, columns: int) -> Line:
    """Return the line in at most so many cells."""
    clipped: Line = []
    room = columns
    for style, text in line:
        if room <= 0:
            break
        clipped.append((style, clip(text, room)))
        room -= cells(text)
    return clipped


def ends(left: Line, right: Line, columns: int) -> Line:
    """Return one line with `left` and `right` at its two ends; the left one gives way."""
    right = clip_line(right, columns)
    room = columns - line_cells(right)
    left = clip_line(left, room)
    return [*left, ("", " " * (room - line_cells(left))), *right]
