"""Pages of the screen, those about the selected card among them, and the keys that many have."""

from collections.abc import Callable, Hashable

from crabhook.desk.acts import ACTS, Guard, Place, key_of
from crabhook.model.card import Card
from crabhook.present.summary import copied
from crabhook.ui.full import effects as do
from crabhook.ui.full.dialog import Dialog, Group, Table, always, closes, group, row, row_of
from crabhook.ui.full.effects import Effects, Look
from crabhook.ui.full.panes.request import everything_page
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.text.layout import Content

FREE, BEGIN, ARMED, READ, LINE = Guard


class ScreenPage(Dialog):
    """A page of a screen: one of its views, or what lies over one."""

    def __init__(self, screen: Screen, *, role: str | None = None, waits: bool = False) -> None:
        """Take a screen; a `role`, or that its card waits, is supposed only."""
        self.screen = screen
        self.supposed = waits
        self._role = role

    def supposing(self, *, role: str | None = None, waits: bool = False) -> Dialog:
        """Return the page as for someone of another role, or at a card that still waits."""
        return type(self)(self.screen, role=role, waits=waits)

    @property
    def role(self) -> str:
        """Who sits here; empty at the server's own terminal."""
        return self.screen.desk.role() if self._role is None else self._role

    def may(self, act: str) -> bool:
        """Whether who sits here may do an act."""
        return ACTS[act].is_for(self.role)

    @property
    def card(self) -> Card | None:
        """The selected card."""
        return self.screen.card

    @property
    def waits(self) -> bool:
        """Whether a card is selected that has not ended."""
        return self.screen.waits or (self.supposed and self.card is not None)


class View(ScreenPage):
    """A page that lies at the bottom of the stack."""


# What keys of many dialogs do.

FAR_AWAY = 1 << 30  # rows, more than there are


def gives(act: str) -> Callable[[object, str], Effects]:
    """Return the handler of an act whose decision needs no words."""
    decision = ACTS[act].decision()
    return lambda *_: (do.Give(decision),)


# fmt: off
FAR: Group[Dialog] = group(KeyTheme.FAR, always,
    row("home", "", "the first card, or the first row", FREE, lambda dialog, _: dialog.far(-1)),
    row("G end", "", "the last card, or the last row", FREE, lambda dialog, _: dialog.far(+1)))
# fmt: on


def _turn(pages: int) -> Effects:
    return (Look(lambda window: window.scroll(pages * window.page)),)


# fmt: off
PAGES: Group[Dialog] = group(KeyTheme.FAR, always,
    row("pageup", "", "a page of the request up", FREE, lambda *_: _turn(-1)),
    row("pagedown", "", "a page of the request down", FREE, lambda *_: _turn(+1)))
FIRST: Group[Dialog] = group(KeyTheme.FAR,
    always,
    row("g", "", "the first row", FREE, lambda dialog, _: dialog.far(-1)))
LOOKING: Group[Dialog] = group(KeyTheme.LOOKING, always,
    row("up k", "", "a row up", FREE, lambda dialog, _: dialog.move(-1)),
    row("down j", "", "a row down", FREE, lambda dialog, _: dialog.move(+1)))
CHOOSING: Group[Dialog] = group(KeyTheme.CHOOSING, always,
    row("up k", "", "one row up", FREE, lambda dialog, _: dialog.move(-1)),
    row("down j", "next", "one row down", FREE, lambda dialog, _: dialog.move(+1)))
SEEN: Group[Dialog] = group(KeyTheme.SEEN, always,
    row("R", "", "show the secrets that are covered, or cover them again",
        FREE, lambda *_: (do.Uncover(),)),
    row("F", "", "show the many blanks that are folded to a mark, or fold them again",
        FREE, lambda *_: (do.Unfold(),)))
QUIT: Group[Dialog] = group(KeyTheme.ALWAYS, always,
    row("c-c", "", "twice: quit, and release what waits with no opinion",
        FREE, lambda *_: (do.Quit(),)))
# fmt: on

SCROLLING: Table = (FAR, PAGES, FIRST)
"""The keys that go far in a page that is scrolled."""

_TAKE_BACK = key_of("take-back", Place.DESK)
# fmt: off
TAKE_BACK: Group[ScreenPage] = group(KeyTheme.HELD,
    lambda page: page.screen.answers.waiting > 0 and page.may("take-back"),
    row_of(_TAKE_BACK, lambda page, _: (do.TakeBack(page.card.number if page.card else None),)))
# fmt: on


# All that was sent.


class EverythingPage(ScreenPage):
    """The page with all that the card's agent sent."""

    COVERS = True

    def content(self) -> Content | None:
        """Return all that was sent of the selected card."""
        card = self.card
        return everything_page(self.screen.work.documents.of(card)) if card else None

    def acts_on(self, card: Hashable, *, marked: bool) -> Hashable:
        """Return nothing: no key decides here."""

    # fmt: off
    KEYS = (
        LOOKING,
        group(KeyTheme.OUT, always, row("escape i q", "close", "back to the card", FREE, closes)),
        *SCROLLING, SEEN, QUIT,
    )
    # fmt: on


def has_card(page: ScreenPage) -> bool:
    """Whether a card is selected."""
    return page.card is not None


# fmt: off
WHOLE: Group[ScreenPage] = group(KeyTheme.WHOLE, has_card,
    row("i", "all it sent", "everything that the agent sent",
        FREE, lambda page, _: (EverythingPage(page.screen),)))
COPY: Group[ScreenPage] = group(KeyTheme.WHOLE, has_card,
    row("y", "", "copy the command, exactly as it was sent, or the whole input of another tool",
        FREE, lambda page, _: (do.Copy(copied(page.card.event)),) if page.card else ()))
# fmt: on
