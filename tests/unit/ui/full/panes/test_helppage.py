"""The help page and the help line are the table of keys, no more and no less."""

from __future__ import annotations

import pytest

from crabhook.ui.full.keys import KEYS, TABLE, line_keys
from crabhook.ui.full.panes.card import help_line, help_rows
from crabhook.ui.text.layout import Sheet, line_cells
from crabhook.ui.text.safe import safe
from tests.support.key_contexts import CONTEXTS
from tests.support.sitting import Sitting


def page(columns: int) -> str:
    lines = help_rows(Sheet(columns, safe))
    return "\n".join("".join(text for _, text in line) for line in lines)


def test_every_key_of_the_table_is_on_the_page() -> None:
    shown = page(120)
    for key in KEYS:
        assert f"{key.shown:<18} {key.does}" in shown
    for group in TABLE:
        assert group.title in shown


def test_the_page_tells_nothing_that_is_not_in_the_table_but_the_laws() -> None:
    keys, laws = page(120).split("\n\n")
    rows = [row for row in keys.split("\n") if row.startswith("   ")]
    assert len(rows) == len(KEYS)
    assert "never takes the keys" in laws


def test_how_to_decide_comes_first() -> None:
    assert page(120).split("\n")[1].strip().startswith("a ")


@pytest.mark.parametrize("columns", [24, 40, 80])
def test_a_narrow_page_wraps_and_loses_no_word(columns: int) -> None:
    words = set(page(columns).split())
    assert all(set(key.does.split()) <= words or columns < 60 for key in KEYS)


@pytest.mark.parametrize("columns", [24, 40, 80, 200])
def test_the_line_fits_and_always_ends_with_the_way_on(columns: int) -> None:
    for moment in CONTEXTS:
        keys = line_keys(moment)
        line = help_line(keys, columns)
        assert line_cells(line) <= columns or len(keys) == 1
        if keys:
            assert line[-1][1].strip() == keys[-1].name


def test_the_page_opens_and_closes_and_leaves_all_as_it_was() -> None:
    sitting = Sitting(rows=60)
    sitting.ask()
    sitting.wait()
    before = sitting.text()
    sitting.press("?")
    assert "allow, and tell the model something" in sitting.text()
    sitting.press("?")
    after = sitting.text()
    assert after.replace("▹", "▸") == before.replace("▹", "▸")
