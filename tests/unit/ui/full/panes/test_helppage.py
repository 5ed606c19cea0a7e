"""The help page and the help line are the table of keys, no more and no less."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from crabhook.present.safe import safe
from crabhook.ui.full.dialogs.card import FormPage, QueueView
from crabhook.ui.full.keys import KEYS, LISTED
from crabhook.ui.full.panes.foot import help_line
from crabhook.ui.full.panes.help import key_rows
from crabhook.ui.text.layout import Sheet, line_cells
from tests.support.moments import moments
from tests.support.sitting import QUESTIONS, Sitting

if TYPE_CHECKING:
    from typing import Any

    from crabhook.ui.full.dialog import KeyRow


def page(columns: int) -> str:
    lines = key_rows(LISTED, Sheet(columns, safe))
    return "\n".join("".join(text for _, text in line) for line in lines)


def test_every_key_of_the_table_is_on_the_page() -> None:
    shown = page(120)
    for key in KEYS:
        assert f"{key.shown:<18} {key.does}" in shown
    for key in LISTED:
        assert key.theme in shown


def test_the_page_tells_nothing_that_is_not_in_the_table_but_the_laws() -> None:
    rows = [row for row in page(120).split("\n") if row.startswith("   ")]
    assert len(rows) == len(KEYS)
    sitting = Sitting(rows=220)
    sitting.press("?", "?")
    assert "A new card never takes the keys." in sitting.text()


def test_how_to_decide_comes_first() -> None:
    assert page(120).split("\n")[1].strip().startswith("a ")


@pytest.mark.parametrize("columns", [24, 40, 80])
def test_a_narrow_page_wraps_and_loses_no_word(columns: int) -> None:
    words = set(page(columns).split())
    assert all(set(key.does.split()) <= words or columns < 60 for key in KEYS)


@cache
def lines() -> set[tuple[KeyRow[Any], ...]]:
    """Return the keys of every help line there can be."""
    return {tuple(row for row in dialog.rows() if row.name) for _, dialog in moments()}


@pytest.mark.parametrize("columns", [24, 40, 80, 200])
def test_the_line_fits_and_always_ends_with_the_way_on(columns: int) -> None:
    for keys in lines():
        line = help_line(keys, columns)
        assert line_cells(line) <= columns or len(keys) == 1
        if keys:
            told = [text.strip() for _, text in line]
            decide = [key.name for key in keys if {"a", "d"} & {*key.keys}]
            assert columns < 40 or set(decide) <= set(told)
            assert keys[-1].name in told or (decide and columns <= 40)


def test_the_page_opens_and_closes_and_leaves_all_as_it_was() -> None:
    sitting = Sitting(rows=60)
    sitting.ask()
    sitting.wait()
    before = sitting.text()
    sitting.press("?")
    assert "allow, and tell the model something" in sitting.text()
    sitting.press("escape")
    after = sitting.text()
    told = [re.sub(r"▹|\d+:\d+|\d+ s\b", "▸", text) for text in (before, after)]  # time goes by
    assert told[0] == told[1]


def test_the_page_has_the_keys_of_what_is_selected_then_all() -> None:
    sitting = Sitting(columns=200, rows=200)
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("?")
    mine = sitting.text()
    assert "keys for #1 questions, in its form" in mine
    every, now = (
        {f"{row.shown:<18} {row.does}" for row in rows}
        for rows in (KEYS, sitting.screen.stack.below.rows())
    )
    shown = {line.strip() for line in mine.split("\n")}
    assert every & shown == now
    sitting.press("?")
    assert "at a stop: let the agent stop" in sitting.text()
    sitting.press("q")
    assert isinstance(sitting.top, FormPage)


def test_the_page_fills_the_screen_at_every_size() -> None:
    for columns, rows in ((24, 7), (40, 10), (80, 24), (120, 40), (200, 60)):
        sitting = Sitting(columns=columns, rows=rows)
        sitting.ask()
        sitting.press("?")
        shown = sitting.rows_of_text()
        assert len(shown) == rows
        assert "keys for #1" in shown[1]
        assert rows > 24 or all(row.strip() for row in shown[2 : rows - 2])


def test_keys_are_found_by_their_words_while_they_are_typed() -> None:
    sitting = Sitting(rows=60)
    sitting.ask()
    sitting.wait()
    sitting.press("?", "/")
    sitting.type("snooze")
    assert "put it aside for five minutes" in sitting.text()
    assert "allow, and tell the model" not in sitting.text()
    assert sitting.draw().cursor is not None
    sitting.press("enter", "escape")
    assert isinstance(sitting.top, QueueView)
    assert not sitting.decided()


def test_no_key_decides_while_the_page_is_open() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.wait()
    for key in ("a", "p", "h", "space", "enter", "y"):
        sitting.press("?", key)
        sitting.press("escape")
        sitting.wait()
    assert not sitting.decided()


def test_the_page_of_keys_says_which_view_it_is_about() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    for key, whose in (("S", "the sessions"), ("H", "the history"), ("Q", "#1 Bash")):
        sitting.press(key, "?")
        assert f"keys for {whose}" in sitting.text()
        sitting.press("escape")
