"""A window on a long content: every row can be come to, and only those in view cost anything."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from crabhook.present.safe import safe
from crabhook.ui.text.layout import Content, Detail, Item, Line, Sheet

SHEET = Sheet(40, safe)


def pieces(sizes: list[int], key: Hashable = "pieces", made: list[int] | None = None) -> Content:
    """Return items of so many rows each; a row says which it is; `made` lists those laid out."""

    def rows(place: int) -> Iterator[Line]:
        if made is not None:
            made.append(place)
        for row in range(sizes[place]):
            yield [("", f"{place}.{row}")]

    def item(place: int) -> Item:
        return Item((key, place), lambda _sheet: rows(place))

    return Content(key, len(sizes), item)


def names(detail: Detail, height: int) -> list[str]:
    return ["".join(text for _, text in line) for line in detail.rows(SHEET, height)]


def all_rows(sizes: list[int]) -> list[str]:
    return [f"{place}.{row}" for place, size in enumerate(sizes) for row in range(size)]


SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=6)
WITH_EMPTY = st.lists(st.integers(0, 6), min_size=1, max_size=6).filter(any)


@given(WITH_EMPTY, st.integers(1, 8))
def test_going_down_and_up_comes_by_every_row(sizes: list[int], height: int) -> None:
    detail = Detail()
    detail.show(pieces(sizes))
    everything = all_rows(sizes)
    seen = names(detail, height)
    for _ in everything:
        detail.scroll(+1)
        seen += names(detail, height)[-1:]
    assert set(seen) == set(everything)
    assert names(detail, height) == everything[-height:]
    assert not detail.below
    for _ in everything:
        detail.scroll(-1)
        names(detail, height)
    assert names(detail, height) == everything[:height]
    assert not detail.above


@example([1, 0], 1, [])
@example([0, 1], 1, [1])
@given(WITH_EMPTY, st.integers(1, 8), st.lists(st.integers(-9, 9), max_size=8))
def test_the_window_is_always_a_run_of_rows_as_full_as_can_be(
    sizes: list[int], height: int, steps: list[int]
) -> None:
    detail = Detail()
    detail.show(pieces(sizes))
    everything = all_rows(sizes)
    for step in [0, *steps]:
        if step:
            detail.scroll(step)
        shown = names(detail, height)
        first = everything.index(shown[0])
        assert everything[first : first + len(shown)] == shown
        assert len(shown) == min(height, len(everything))
        assert detail.above == (first > 0)
        assert detail.below == (first + len(shown) < len(everything))


@given(SIZES, st.integers(1, 8), st.lists(st.integers(0, 5), max_size=6))
def test_a_revealed_item_is_in_view_from_its_first_row(
    sizes: list[int], height: int, places: list[int]
) -> None:
    detail = Detail()
    detail.show(pieces(sizes))
    names(detail, height)
    for place in places:
        if place < len(sizes):
            detail.reveal(place)
            shown = names(detail, height)
            assert f"{place}.0" in shown or sizes[place] > height
            assert any(name.startswith(f"{place}.") for name in shown)


def test_the_ends_are_come_to_at_once() -> None:
    detail = Detail()
    detail.show(pieces([3, 100, 3]))
    names(detail, 5)
    detail.to_end()
    assert names(detail, 5) == ["1.98", "1.99", "2.0", "2.1", "2.2"]
    detail.to_start()
    assert names(detail, 2) == ["0.0", "0.1"]


def test_only_items_in_view_are_laid_out_and_once() -> None:
    made: list[int] = []
    detail = Detail()
    detail.show(pieces([1] * 10_000, made=made))
    names(detail, 10)
    names(detail, 10)
    assert len(made) <= 11
    detail.reveal(9_999)
    names(detail, 10)
    assert len(made) <= 40


def test_another_content_is_looked_at_from_its_start() -> None:
    detail = Detail()
    detail.show(pieces([50]))
    names(detail, 5)
    detail.scroll(20)
    detail.show(pieces([50]))
    assert names(detail, 5)[0] == "0.20"
    detail.show(pieces([50], key="other"))
    assert names(detail, 5)[0] == "0.0"


def test_a_page_leaves_one_row_in_common() -> None:
    detail = Detail()
    detail.show(pieces([50]))
    before = names(detail, 10)
    detail.scroll(detail.page)
    assert names(detail, 10)[0] == before[-1]


def test_nothing_shown_is_nothing_to_scroll() -> None:
    detail = Detail()
    detail.scroll(3)
    detail.to_end()
    detail.reveal(2)
    assert names(detail, 5) == []


def test_any_row_of_an_item_can_be_brought_into_view_by_the_shortest_way() -> None:
    view = Detail()
    view.show(pieces([2, 60, 2]))
    view.rows(SHEET, 5)
    for row in (0, 4, 5, 30, 29, 26, 25, 2):
        view.reveal_row(1, row)
        shown = ["".join(text for _, text in line) for line in view.rows(SHEET, 5)]
        every = [
            "".join(text for _, text in line)
            for place in range(3)
            for line in pieces([2, 60, 2]).item(place).rows(SHEET)
        ]
        assert every[row + 2] in shown
    view.reveal_row(2, 1 << 20)
    view.rows(SHEET, 5)
    assert not view.below
    view.reveal_row(9, 0)  # an item that is not there moves nothing
    assert not view.below
