"""The page of keys, the search for a key, and the palette, where a key is chosen by its name."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import ClassVar

from crabhook.desk.acts import Place, key_of
from crabhook.ui.full import effects as do
from crabhook.ui.full.dialog import Dialog, Group, Table, always, closes, group, row, row_of
from crabhook.ui.full.dialogs.page import (
    FREE,
    LOOKING,
    QUIT,
    SCROLLING,
    ScreenPage,
)
from crabhook.ui.full.effects import Effects
from crabhook.ui.full.text_input import LineInput
from crabhook.ui.full.themes import KeyTheme


@dataclass(slots=True)
class Finder:
    """The typed words of a search for keys, and the selected row."""

    box: LineInput = field(default_factory=lambda: LineInput([]))
    cursor: int = 0
    _sought: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words to search for."""
        return tuple(self.box.text.lower().split())

    def move(self, step: int) -> None:
        """Select another row; `row` keeps within the rows."""
        self.cursor += step

    def row(self, count: int) -> int:
        """Return the selected row among so many; a new text selects the first."""
        if self.box.text != self._sought:
            self.cursor, self._sought = 0, self.box.text
        self.cursor = max(min(self.cursor, count - 1), 0)
        return self.cursor


class KeysPage(Dialog):
    """The page of keys: those of the dialog below, or all, or those that a search found."""

    COVERS = FILLS = True

    def __init__(self, *, all_keys: bool = False, finder: Finder | None = None) -> None:
        self.all_keys, self.finder = all_keys, finder

    @property
    def words(self) -> tuple[str, ...]:
        """The words that the keys must have."""
        return self.finder.words if self.finder is not None else ()

    def acts_on(self, card: Hashable, *, marked: bool) -> Hashable:
        """Return nothing: no key decides here."""

    def takes_place_of(self, top: Dialog) -> bool:
        """Whether it is opened in place of what lies on top: the page changes."""
        return isinstance(top, KeysPage)

    # fmt: off
    KEYS: ClassVar[Table] = (
        LOOKING,
        group(KeyTheme.PAGE_OF_KEYS, always,
            row("?", "all keys", "all keys, or again those of what is selected",
                FREE, lambda page, _: (KeysPage(all_keys=not page.all_keys),)),
            row("/", "search", "find keys by their words",
                FREE, lambda page, _: (KeySearch(all_keys=page.all_keys, finder=Finder()),)),
            row("escape q", "close", "close this page", FREE, closes)),
        *SCROLLING, QUIT,
    )
    # fmt: on


class KeySearch(KeysPage):
    """The page of keys while words are typed that the keys must have."""

    @property
    def field(self) -> LineInput | None:
        """What letters are typed into."""
        return self.finder.box if self.finder is not None else None

    def back(self) -> Dialog:
        """Return the page as it was before the search."""
        return KeysPage(all_keys=self.all_keys)

    # fmt: off
    KEYS = (
        group(KeyTheme.PAGE_OF_KEYS, always,
            row("enter", "keep", "keep to what was found",
                FREE, lambda page, _: (KeysPage(all_keys=page.all_keys, finder=page.finder),)),
            row("up", "", "a row up", FREE, lambda page, _: page.move(-1)),
            row("down", "", "a row down", FREE, lambda page, _: page.move(+1)),
            row("escape", "all keys", "search no more", FREE, closes)),
        QUIT,
    )
    # fmt: on


class Palette(Dialog):
    """The commands whose names have the typed words; `since` is when it was opened."""

    def __init__(self, since: float) -> None:
        self.since = since
        self.finder = Finder()

    @property
    def field(self) -> LineInput:
        """What letters are typed into."""
        return self.finder.box

    def move(self, step: int) -> Effects:
        """Select another command."""
        self.finder.move(step)
        return ()

    # fmt: off
    KEYS = (
        group(KeyTheme.PALETTE, always,
            row("enter", "run", "as if its key had been pressed",
                FREE, lambda *_: (do.RunFound(),)),
            row("up", "", "the command above", FREE, lambda dialog, _: dialog.move(-1)),
            row("down", "next", "the command below", FREE, lambda dialog, _: dialog.move(+1)),
            row("escape", "leave", "choose none", FREE, closes)),
        QUIT,
    )
    # fmt: on


# fmt: off
COMMANDS: Group[ScreenPage] = group(KeyTheme.ALWAYS, always,
    row(":", "commands", "choose a command by its name",
        FREE, lambda page, _: (Palette(page.screen.desk.now()),)))
KEYS_AND_LEAVE: Group[Dialog] = group(KeyTheme.ALWAYS, always,
    row_of(key_of("quit", Place.DESK), lambda *_: (do.Leave(),)),
    row_of(key_of("help", Place.DESK), lambda *_: (KeysPage(),)))
# fmt: on

ANYWHERE: Table = (COMMANDS, KEYS_AND_LEAVE, QUIT)
"""The keys of every view, and of every page of a card."""
