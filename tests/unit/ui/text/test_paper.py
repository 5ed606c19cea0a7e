"""Paper is laid out only as far as it is looked at, and lines keep to their cells."""

from __future__ import annotations

from collections.abc import Iterator

from crabhook.present.safe import safe
from crabhook.ui.text.layout import MOST_AT_ONCE, Line, Paper, Sheet, clip_line, ends, line_cells


class Rows:
    """Rows without an end, counted as they are made."""

    def __init__(self) -> None:
        self.made = 0

    def __iter__(self) -> Iterator[Line]:
        while True:
            self.made += 1
            yield [("", str(self.made))]


def test_only_what_is_looked_at_is_made() -> None:
    rows = Rows()
    paper = Paper(rows)
    assert rows.made == 0
    assert paper.rows(0, 3) == [[("", "1")], [("", "2")], [("", "3")]]
    assert rows.made <= 4
    assert paper.rows(1, 2) == [[("", "2")], [("", "3")]]
    assert rows.made <= 4


def test_one_look_makes_no_more_than_its_bound() -> None:
    rows = Rows()
    assert Paper(rows).reach(1 << 30) == MOST_AT_ONCE
    assert rows.made == MOST_AT_ONCE


def test_a_paper_knows_when_it_is_whole() -> None:
    paper = Paper([[("", "only")]])
    assert paper.reach(1) == 1
    assert not paper.whole
    assert paper.reach(2) == 1
    assert paper.whole
    assert paper.rows(5, 5) == []


def test_the_two_ends_of_a_line_fill_it_exactly_and_the_left_gives_way() -> None:
    line = ends([("a", "日本語日本語")], [("b", "12:00")], 10)
    assert line_cells(line) == 10
    assert line[-1] == ("b", "12:00")
    assert line_cells(ends([("a", "x")], [("b", "far too long")], 5)) == 5


def test_a_clipped_line_keeps_its_styles() -> None:
    assert clip_line([("a", "ab"), ("b", "cdef")], 4) == [("a", "ab"), ("b", "c…")]
    assert clip_line([("a", "ab"), ("b", "cd")], 2) == [("a", "ab")]


def test_a_sheet_always_leaves_some_room_beside_the_bar() -> None:
    assert Sheet(80, safe).inner.columns == 78
    assert Sheet(1, safe).inner.columns == 8
