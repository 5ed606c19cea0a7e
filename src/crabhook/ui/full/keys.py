"""All keys of the desk: the page of keys and the docs list them, theme by theme.

Each dialog has its own table of keys, beside it. At most one row applies to a key at any moment; a
test tries them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from crabhook.datatypes import frozen
from crabhook.ui.full.dialog import Dialog, KeyRow
from crabhook.ui.full.dialogs.card import FormPage, QueueView, TextPage
from crabhook.ui.full.dialogs.edit import EditPage
from crabhook.ui.full.dialogs.help import KeySearch, KeysPage, Palette
from crabhook.ui.full.dialogs.lists import EntryPage, HistoryView, SessionsView
from crabhook.ui.full.dialogs.mcp_form import FillPage
from crabhook.ui.full.dialogs.page import EverythingPage
from crabhook.ui.full.dialogs.plan import NotesPage
from crabhook.ui.full.dialogs.prompts import InputLine, Menu, SecondYesPage, YesPage
from crabhook.ui.full.dialogs.question import ReviewPage
from crabhook.ui.full.themes import KeyTheme

DIALOGS: tuple[type[Dialog], ...] = (
    *(QueueView, TextPage, FormPage, ReviewPage, FillPage, NotesPage, EverythingPage),
    *(InputLine, EditPage, Menu, YesPage, SecondYesPage, KeysPage, KeySearch, Palette),
    *(SessionsView, HistoryView, EntryPage),
)


_PAGE = sorted(KeyTheme, key=lambda theme: theme is not KeyTheme.DECIDING)


@frozen
class Listed:
    """A row as the page of keys lists it: with its theme."""

    theme: KeyTheme
    row: KeyRow[Any]


def listed(groups: Iterable[tuple[KeyTheme, Iterable[KeyRow[Any]]]]) -> Sequence[Listed]:
    """Return rows in the order of the page of keys, each once: how to decide comes first."""
    keys = [Listed(theme, row) for theme, rows in groups for row in rows]
    return sorted(dict.fromkeys(keys), key=lambda key: _PAGE.index(key.theme))


LISTED: Sequence[Listed] = listed(
    (group.theme, group.rows) for dialog in DIALOGS for group in dialog.KEYS
)
KEYS: tuple[KeyRow[Any], ...] = tuple(
    key.row for key in sorted(LISTED, key=lambda key: list(KeyTheme).index(key.theme))
)
_LETTERS = {key for row in KEYS for key in row.keys if len(key) == 1 and not key.isdecimal()}


def is_a_key(pressed: str) -> bool:
    """Whether a printable key does anything at some moment; digits are of lists alone."""
    return pressed in _LETTERS
