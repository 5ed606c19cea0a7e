"""Styled lines, and long contents of them.

An item is laid out when it comes into view: ten thousand cost no more than ten.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import TypeAlias

from crabhook.datatypes import Bounded, frozen
from crabhook.present.reading import BlockReading, left_to_read
from crabhook.present.safe import FOLD, Speller, folded, folded_json, safe
from crabhook.ui.text.width import cells, clip

Span: TypeAlias = tuple[str, str]
"""The name of a style (see `style`), and the text that wears it."""

Line: TypeAlias = list[Span]

Rows: TypeAlias = Iterator[tuple[bool, Line]]
"""Rows of a text; the flag tells whether a row begins a line of the text."""

MOST_AT_ONCE = 8_000  # rows laid out by one key; a longer way down takes several
PAPERS_KEPT = 128
_SEEN_KEPT = 4096  # items seen to their ends that are remembered


@frozen
class Sheet:
    """How wide the screen is, and how agents' letters are spelt.

    `folds`: blanks are marks. `roomy`: there are rows enough for frames.
    """

    columns: int
    spell: Speller
    folds: bool = True
    roomy: bool = True

    @property
    def inner(self) -> "Sheet":
        """What is left beside the bar that marks an agent's own text."""
        return self.less(min(self.columns - 8, 2))

    def less(self, columns: int) -> "Sheet":
        """Return a sheet with fewer columns."""
        return replace(self, columns=self.columns - columns)

    def fold(self, text: str, *, json: bool = False) -> str:
        """Return an agent's text, or a line of `json`, with its many blanks folded on demand."""
        return (folded_json if json else folded)(text) if self.folds else text


class Paper:
    """Rows of a text, made when they are first looked at and then kept."""

    def __init__(self, rows: Iterable[Line]) -> None:
        self._source: Iterator[Line] = iter(rows)
        self._rows: list[Line] = []
        self.whole = False
        self.seen: set[int] = set()  # rows that were on the screen

    def reach(self, row: int) -> int:
        """Lay out the rows before `row`, within bounds; return how many there are so far."""
        missing = min(row - len(self._rows), MOST_AT_ONCE)
        if missing > 0 and not self.whole:
            added = list(islice(self._source, missing))
            self._rows += added
            self.whole = len(added) < missing
        return len(self._rows)

    def reading(self) -> BlockReading:
        """Return how much of it was on the screen, as far as it can be laid out now."""
        rows = self.reach(len(self._rows) + MOST_AT_ONCE)
        return BlockReading(rows - len(self.seen), self.whole)

    def rows(self, top: int, count: int) -> Sequence[Line]:
        """Return at most `count` rows from row `top` on."""
        self.reach(top + count + 1)
        return self._rows[top : top + count]


def line_cells(line: Line) -> int:
    """Return how many cells a line takes."""
    return sum(cells(text) for _, text in line)


def clip_line(line: Line, columns: int) -> Line:
    """Return the line in at most so many cells."""
    return _clipped(line, columns)[0]


def _clipped(line: Line, columns: int) -> tuple[Line, int]:
    """Return the line in at most so many cells, and how many of them are left."""
    clipped: Line = []
    room = columns
    for style, text in line:
        if room <= 0:
            break
        taken = cells(text)
        if taken > room:
            shorter = clip(text, room)
            return [*clipped, (style, shorter)], room - cells(shorter)
        clipped.append((style, text))
        room -= taken
    return clipped, max(room, 0)


def ends(left: Line, right: Line, columns: int) -> Line:
    """Return one line with `left` and `right` at its two ends; the left end gives way."""
    right, room = _clipped(right, columns)
    left, room = _clipped(left, room)
    return [*left, ("", " " * room), *right]


def rows_of_a_line(rows: Iterable[Line]) -> Rows:
    """Return the rows into which one line of a text is broken, the first of them flagged."""
    return ((place == 0, row) for place, row in enumerate(rows))


def framed(rows: Iterable[tuple[bool, Line]]) -> Iterator[Line]:
    """Return rows behind a bar; broken where a row does not begin a line."""
    for begins, row in rows:
        framed: Line = [("bar", "│ " if begins else "┆ ")]
        for style, text in row:
            for at, part in enumerate(FOLD.split(text)):  # marks of folded text at odd places
                if part or not text:
                    framed.append(("warning" if at % 2 else style, part))
        yield framed


def boxed(rows: Iterable[tuple[bool, Line]], sheet: Sheet, style: str = "asked") -> Iterator[Line]:
    """Return rows in a frame as wide as the sheet; the rows have its width less 4."""
    across = "─" * (sheet.columns - 2)
    yield [("frame", f"┌{across}┐")]
    for row in framed(rows):
        (_, bar), *spans = row
        worn: Line = [("frame", bar), *((f"{style} {look}".strip(), text) for look, text in spans)]
        yield ends(worn, [("frame", " │")], sheet.columns)
    yield [("frame", f"└{across}┘")]


def hung(
    head: str, rows: Iterable[tuple[bool, Line]], style: str = "", below: str | None = None
) -> Iterator[Line]:
    """Return rows behind a styled head; all but the first are behind `below`, or blanks."""
    under = ("", " " * len(head)) if below is None else (style, below)
    for place, (_, row) in enumerate(rows):
        yield [under if place else (style, head), *row]


@frozen
class Panel:
    """The edges around a part of the screen; those of the part that keys go to are bright."""

    columns: int
    active: bool
    sides: bool = True

    @property
    def inner(self) -> int:
        """The columns between its sides."""
        return self.columns - 2 * self.sides

    def title(self, title: Line, right: Line, corners: str = "╭╮") -> Line:
        """Return the upper edge; the title of an active panel is in reverse."""
        look = "front" if self.active else "dim"
        words = "".join(text for _, text in title)
        return self.edge([(look, f" {words} ")] if words else [], right, corners)

    def edge(self, left: Line, right: Line, corners: str = "╰╯") -> Line:
        """Return an edge with words at its two ends; the left words are cut where room is short."""
        look = "border" if self.active else "rule"
        corners = corners if self.sides else "──"
        end: Line = [("", " "), *right, ("", " ")] if right else []
        end += [(look, f"─{corners[1]}")]
        start: Line = [(look, corners[0]), *left]
        start = clip_line(start, self.columns - line_cells(end))
        between = self.columns - line_cells(start) - line_cells(end)
        return clip_line([*start, (look, "─" * between), *end], self.columns)

    def row(self, line: Line) -> Line:
        """Return a row between the sides, cut where the panel ends."""
        if not self.sides:
            return clip_line(line, self.columns)
        side = ("border" if self.active else "rule", "│")
        return [side, *ends(line, [], self.inner), side]


Layer: TypeAlias = Callable[[Sheet], Iterator[Line]]
_Place: TypeAlias = tuple[int, int]
"""An item, and a row of it."""


@frozen
class Item:
    """One piece of a content: how to lay it out, and a key that changes with its rows."""

    key: Hashable
    rows: Layer


@frozen
class Content:
    """A content of `count` items."""

    key: Hashable  # a new one means a new content, shown from its start
    count: int
    item: Callable[[int], Item]  # returns the item at a place, from 0


def page(key: Hashable, rows: Layer, changing: Hashable = ()) -> Content:
    """Return a content of one item, read as a whole; `changing` changes when its rows would."""
    return Content(key, 1, lambda _: Item((key, changing), rows))


NOTHING = page(None, lambda _: iter(()))


class Detail:
    """A window on a content. Heights and steps are in rows."""

    def __init__(self) -> None:
        self._papers: Bounded[Hashable, Paper] = Bounded(PAPERS_KEPT)
        self._content = NOTHING
        self._sheet = Sheet(80, safe)
        self._height = 10
        self._top: _Place = (0, 0)
        self._in_view: list[tuple[Paper, range]] = []
        self._seen_whole: Bounded[Hashable, bool] = Bounded(_SEEN_KEPT)
        self.above = self.below = False

    @property
    def page(self) -> int:
        """How far a page's step goes."""
        return max(self._height - 1, 1)

    def show(self, content: Content) -> None:
        """Look at `content`: from its start, or if it is what was in view, from the same place."""
        if content.key != self._content.key:
            self.to_start()
            self._in_view = []
        self._content = content

    def rows(self, sheet: Sheet, height: int) -> list[Line]:
        """Return the rows in view, for a window of that size."""
        self._sheet, self._height = sheet, height
        lines, end = self._read()
        if len(lines) < height and self._top > (0, 0):
            self._top = self._up(end, height)
            lines, end = self._read()
        self.above, self.below = self._is_below_rows(), end[0] < self._content.count
        return lines

    def _is_below_rows(self) -> bool:
        """Whether there are rows above the window: the items there may be empty."""
        item, row = self._top
        return row > 0 or any(self._paper(place).reach(1) for place in range(item - 1, -1, -1))

    def drawn(self) -> None:
        """Take in that the rows laid out last are on the terminal."""
        for paper, rows in self._in_view:
            paper.seen.update(rows)

    def readings(self) -> Iterator[BlockReading]:
        """Yield what was on the screen of each item that was not yet seen to its end.

        An item that was once seen to its end stays seen, also when rows are broken again.
        """
        return (paper.reading() for _, paper in self._unread())

    def goes_on(self) -> bool:
        """Whether more rows were never on the screen than those that are laid out now."""
        new = sum(row not in paper.seen for paper, rows in self._in_view for row in rows)
        return left_to_read(self.readings()) > new

    def end_unseen(self) -> bool:
        """Whether the last row of the content was never on the screen."""
        return any(paper.reach(1 << 30) - 1 not in paper.seen for _, paper in self._unread())

    def go_on(self) -> None:
        """Move the window to the first row of the content that was never on the screen."""
        for place, paper in self._unread():
            if paper.reading().unseen:
                row = next(row for row in count() if row not in paper.seen)
                self._top = self._up((place, row), 1 if self._height > 1 else 0)
                return

    def _unread(self) -> Iterator[tuple[int, Paper]]:
        """Yield the items that were not yet seen to their ends."""
        for place in range(self._content.count):
            key, paper = self._content.item(place).key, self._paper(place)
            if key not in self._seen_whole:
                if paper.reading().left:
                    yield place, paper
                else:
                    self._seen_whole[key] = True

    def scroll(self, step: int) -> None:
        """Move the window down, or up where `step` is negative."""
        self._top = self._down(self._top, step) if step > 0 else self._up(self._top, -step)

    def to_start(self) -> None:
        """Move the window to the start."""
        self._top = (0, 0)

    def to_end(self) -> None:
        """Move the window to the end, or a long way towards it."""
        self._top = self._down((self._content.count - 1, 0), 1 << 30)

    def reveal(self, place: int) -> None:
        """Move the window as little as shows the item at `place`, from its first row on."""
        if place >= self._content.count:
            return
        above = (place, 0) < self._top
        ended = place, self._paper(place).reach(self._height)
        self._top = min(max(self._top, self._up(ended, self._height)), (place, 0))
        if above and self._up((place, 1), self._height) == (0, 0):
            self.to_start()

    def reveal_row(self, place: int, row: int) -> None:
        """Move the window as little as shows one row of the item at `place`."""
        if place >= self._content.count:
            return
        count = self._paper(place).reach(row + 1)
        wanted = (place, min(row, max(count - 1, 0)))
        self._top = min(max(self._top, self._up(wanted, self._height - 1)), wanted)

    def _read(self) -> tuple[list[Line], _Place]:
        """Return the rows from the window's top on, and the place after the last row."""
        lines: list[Line] = []
        self._in_view = []
        item, row = self._top
        while item < self._content.count:  # past the last row too: items may be empty
            paper = self._paper(item)
            some = paper.rows(row, self._height - len(lines))
            lines += some
            self._in_view.append((paper, range(row, row + len(some))))
            row += len(some)
            if row < paper.reach(row + 1):
                break
            item, row = item + 1, 0
        return lines, (item, row)

    def _down(self, place: _Place, step: int) -> _Place:
        item, row = place
        while True:
            paper = self._paper(item)
            count = paper.reach(row + step + 1)
            if row + step < count:
                return item, row + step
            if not paper.whole or item + 1 >= self._content.count:
                return item, max(count - 1, 0)
            item, row, step = item + 1, 0, step - (count - row)

    def _up(self, place: _Place, step: int) -> _Place:
        item, row = place
        while step > row and item > 0:
            step -= row
            item -= 1
            row = self._paper(item).reach(1 << 30)
        return item, max(row - step, 0)

    def _paper(self, place: int) -> Paper:
        item = self._content.item(place)
        key = (item.key, self._sheet)
        paper = self._papers.get(key) or Paper(item.rows(self._sheet))
        self._papers[key] = paper  # set again, to keep what is in view
        return paper
