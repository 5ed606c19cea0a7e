"""A list: its rows are numbered, one is stood on, and choosing does what the row says."""

from __future__ import annotations

import pytest

from crabhook.present.safe import safe
from crabhook.ui.full.dialogs.prompts import Beneath, Choice, Menu, MissingRowError, menu_content
from crabhook.ui.full.effects import Close, Say
from crabhook.ui.text.layout import Sheet, line_cells

SAID = Say("chosen")
HOSTILE = "\x1b[2J\u202e x"


def menu_of(count: int, done: list[int]) -> Menu:
    rows = tuple(
        Choice(f"row {place} ", lambda place=place: done.append(place) or (SAID,), HOSTILE)  # type: ignore[func-returns-value,misc]
        for place in range(1, count + 1)
    )
    return Menu("which?", rows, 7, (Beneath("as it came", HOSTILE),))


def shown(menu: Menu, columns: int = 60) -> list[str]:
    content, sheet = menu_content(menu), Sheet(columns, safe)
    lines = [line for place in range(content.count) for line in content.item(place).rows(sheet)]
    assert all(line_cells(line) <= columns for line in lines)
    return ["".join(text for _, text in line) for line in lines]


def test_rows_are_numbered_as_far_as_digits_go_and_the_marked_one_is_marked() -> None:
    menu = menu_of(11, [])
    menu.move(1)
    rows = shown(menu)
    assert rows[0] == "which?"
    assert rows[1].startswith("  1 row 1 ")
    assert rows[2].startswith("▸ 2 row 2 ")
    assert rows[10].startswith("    row 10")


def test_choosing_does_what_the_row_is_for_and_nothing_else() -> None:
    done: list[int] = []
    menu = menu_of(3, done)
    for place in (3, -1):
        with pytest.raises(MissingRowError, match="only 3 rows"):
            menu.pick(place)
    (close,) = menu.pick(1)
    assert isinstance(close, Close)
    assert close.then() == (SAID,)
    assert done == [2]


def test_the_cursor_stays_within_the_list() -> None:
    menu = menu_of(3, [])
    for step, stands in ((-5, 0), (+1, 1), (+9, 2)):
        menu.move(step)
        assert menu.cursor == stands


def test_agents_words_are_safe_and_what_stands_beneath_is_behind_a_bar() -> None:
    rows = shown(menu_of(2, []))
    assert not any("\x1b" in row or "\u202e" in row for row in rows)
    assert rows[-2] == "as it came"
    assert rows[-1].startswith("│ ␛[2J")


def test_a_list_is_another_when_it_says_something_else_and_not_when_one_moves_in_it() -> None:
    menu = menu_of(2, [])
    before = menu_content(menu).key
    menu.move(1)
    assert menu_content(menu).key == before
    assert menu_content(menu_of(3, [])).key != before


def test_long_rows_wrap_under_themselves() -> None:
    rows = shown(Menu("t", (Choice("word " * 20, print),)), 30)
    assert rows[1].startswith("▸ 1 word")
    assert rows[2].startswith("    word")


def test_a_rows_own_warning_and_text_are_shown_with_it() -> None:
    text = (Beneath("of the first", HOSTILE, "warning"),)
    rows = (Choice("one", print, beneath=text), Choice("two", print, warning=("beware: ", HOSTILE)))
    menu = Menu("t", rows)
    assert shown(menu)[1:] == [
        "▸ 1 one",
        "  2 two",
        "    ! beware: ␛[2J⟨U+202E⟩ x",
        "of the first",
        *shown(menu)[5:],
    ]
    assert shown(menu)[5].startswith("│ ␛[2J")
    menu.move(1)
    assert len(shown(menu)) == 4


def test_a_list_that_is_still_empty_can_be_stood_in() -> None:
    menu = Menu("soon", ())
    menu.move(1)
    assert menu.cursor == 0
    assert shown(menu) == ["soon"]
    with pytest.raises(MissingRowError, match="nothing to choose from yet"):
        menu.pick(0)
    assert menu.pick() == ()
