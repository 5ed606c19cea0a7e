"""The table of keys as docs/reference/desk.md has it; run as a module it writes it there anew."""

from itertools import groupby
from pathlib import Path
from typing import Any

from crabhook.ui.full.dialog import KeyRow
from crabhook.ui.full.keys import LISTED
from crabhook.ui.full.themes import KeyTheme
from tests.docs.made_part import put

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "desk.md"
BEGIN, END = "<!-- keys: made from src/crabhook/ui/full/keys.py -->", "<!-- end of keys -->"
_TITLED = "| **{}** | |"

_IN_DIALOGS = frozenset(
    {
        *(KeyTheme.PROPOSAL, KeyTheme.SECOND_YES, KeyTheme.REVIEW, KeyTheme.FORM),
        *(KeyTheme.ANSWERING, KeyTheme.FILLING, KeyTheme.NOTES, KeyTheme.LINE, KeyTheme.EDITOR),
        *(KeyTheme.TYPING, KeyTheme.LIST, KeyTheme.PAGE_OF_KEYS, KeyTheme.PALETTE),
    }
)
"""Themes of dialogs with a few keys, which the last row of the screen lists."""

_MOVES = frozenset(
    {
        *(KeyTheme.QUEUE, KeyTheme.CHOOSING, KeyTheme.LOOKING, KeyTheme.QUESTIONS),
        *(KeyTheme.FIELDS, KeyTheme.OUT, KeyTheme.FAR, KeyTheme.VIEW),
    }
)
"""Themes whose keys only move or close: the page says them in a sentence."""


def table() -> str:
    """Return the table, theme by theme, as the desk's own page has it."""
    rows = ["| key | what it does |", "| --- | --- |"]
    shown = (key for key in LISTED if key.theme not in _IN_DIALOGS | _MOVES)
    for theme, keys in groupby(shown, lambda key: key.theme):
        rows += [_TITLED.format(theme), *(_row(key.row) for key in keys)]
    return "\n".join(rows)


def _row(row: KeyRow[Any]) -> str:
    shown = " ".join(f"`{name}`" for name in row.shown.split())
    return f"| {shown} | {row.does} |"


def with_table(page: str) -> str:
    """Return the page with the table in its place."""
    return put(table(), page, BEGIN, END)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
