"""The views beside the queue: the live sessions, the history, and an entry of it."""

from collections.abc import Callable
from typing import Any

from crabhook.desk.acts import Place, key_of
from crabhook.desk.updates import Past
from crabhook.model.session import SessionView
from crabhook.present.summary import copied
from crabhook.ui.full import effects as do
from crabhook.ui.full.dialog import Go, Group, KeyRow, always, closes, group, row, row_of
from crabhook.ui.full.dialogs import decide, orders
from crabhook.ui.full.dialogs.help import ANYWHERE
from crabhook.ui.full.dialogs.page import (
    FAR,
    FAR_AWAY,
    FIRST,
    FREE,
    LOOKING,
    SCROLLING,
    ScreenPage,
    View,
)
from crabhook.ui.full.dialogs.prompts import AskLine, Purpose
from crabhook.ui.full.effects import Effects
from crabhook.ui.full.panes.views import Listing
from crabhook.ui.full.themes import KeyTheme


def ask_filter(subject: str, wanted: str, want: Callable[[str], None]) -> Effects:
    """Ask for the words that what is shown must have; the rows follow letter by letter."""
    return (AskLine(Purpose.FILTER, lambda _: (), wanted, subject=subject, typed=want),)


class _ListView(View):
    """A view of rows that are no cards which wait."""

    LETS_GO = True

    @property
    def listing(self) -> Listing[Any]:
        """Its rows, and which is selected."""
        raise NotImplementedError

    def move(self, step: int) -> Effects:
        """Go down a row, or up."""
        self.listing.move(step)
        return ()

    def far(self, step: int) -> Effects:
        """Go to the first row, or to the last."""
        return self.move(step * FAR_AWAY)

    def move_page(self, step: int) -> Effects:
        """Go a page of rows down, or up."""
        return self.move(step * self.listing.page)


_TO_QUEUE: KeyRow[ScreenPage] = row(
    "escape", "queue", "back to the queue", FREE, lambda *_: (Go(),)
)
# fmt: off
_ROWS: Group[_ListView] = group(KeyTheme.VIEW, lambda view: view.listing.chosen is not None,
    row("up k", "", "the row above", FREE, lambda view, _: view.move(-1)),
    row("down j", "next", "the row below", FREE, lambda view, _: view.move(+1)),
    row("pageup", "", "a page of rows up", FREE, lambda view, _: view.move_page(-1)),
    row("pagedown", "", "a page of rows down", FREE, lambda view, _: view.move_page(+1)))
# fmt: on


def _look_into_history(page: ScreenPage, _: str) -> Effects:
    """Show the history, read again from its newest entry."""
    if not isinstance(page.screen.stack.view, HistoryView):
        page.screen.history.begin()
    return (Go(HistoryView),)


# fmt: off
VIEWS: tuple[Group[ScreenPage], ...] = (
    group(KeyTheme.VIEWS, always,
        row("Q", "", "the queue: what waits for you", FREE, lambda *_: (Go(),))),
    group(KeyTheme.VIEWS, lambda page: page.may("sessions"),
        row_of(key_of("sessions", Place.DESK), lambda *_: (Go(SessionsView),))),
    group(KeyTheme.VIEWS, lambda page: page.may("history"),
        row_of(key_of("history", Place.DESK), _look_into_history)),
)
# fmt: on


# The live sessions.


def _at_session(
    do: Callable[[ScreenPage, SessionView], Effects],
) -> Callable[[ScreenPage, str], Effects]:
    """Return the handler that needs the selected session."""
    return lambda page, _: () if (view := page.screen.sessions.chosen) is None else do(page, view)


def _on_session(page: ScreenPage) -> bool:
    return page.screen.sessions.chosen is not None


def _its_cards(page: ScreenPage, view: SessionView) -> Effects:
    page.screen.want(f"session:{view.session}")
    return (Go(),)


class SessionsView(_ListView):
    """The live sessions."""

    @property
    def listing(self) -> Listing[SessionView]:
        """The sessions."""
        return self.screen.sessions

    # fmt: off
    KEYS = (
        FAR,
        group(KeyTheme.SESSION, lambda page: _on_session(page) and page.may("note"),
            row_of(key_of("note", Place.SESSION),
                   _at_session(lambda _, view: orders.note_to(view)))),
        group(KeyTheme.SESSION, lambda page: _on_session(page) and page.may("stop"),
            row_of(key_of("stop", Place.SESSION), _at_session(lambda _, view: orders.stop(view)))),
        group(KeyTheme.SESSION, _on_session,
            row("c", "its cards", "the queue, with what it asks alone",
                FREE, _at_session(_its_cards)),
            row("enter", "more…",
                "its subagents and notes, and hold or allow all of it for a while", FREE,
                _at_session(lambda page, view: orders.offer_session(view, page.screen.desk)))),
        group(KeyTheme.VIEW, always, _TO_QUEUE),
        FIRST, _ROWS, *VIEWS, orders.ORDERS, *ANYWHERE,
    )
    # fmt: on


# The history.


def _on_entry(page: ScreenPage) -> bool:
    return page.screen.history.chosen is not None


def _open(page: ScreenPage, _: str) -> Effects:
    page.screen.history.open()
    return (Go(EntryPage),)


def _copy(page: ScreenPage, _: str) -> Effects:
    whole = page.screen.history.whole
    return () if whole is None else (do.Copy(copied(whole.card.event)),)


def _offer_rules(page: ScreenPage, _: str) -> Effects:
    entry = page.screen.history.chosen
    return () if entry is None else decide.offer_rules_of(entry, page.screen.desk)


# fmt: off
_ALWAYS_ALLOW: Group[ScreenPage] = group(KeyTheme.HISTORY,
    lambda page: _on_entry(page) and page.may("always-allow"),
    row_of(key_of("always-allow", Place.ENTRY), _offer_rules))
# fmt: on


class HistoryView(_ListView):
    """What ended, the newest first."""

    @property
    def listing(self) -> Listing[Past]:
        """The entries that were read."""
        return self.screen.history

    def ask_filter(self) -> Effects:
        """Ask for the words that an entry must have."""
        history = self.screen.history
        return ask_filter("the history", history.wanted, history.want)

    def show_all(self) -> Effects:
        """Show all entries again."""
        self.screen.history.want("")
        return ()

    # fmt: off
    KEYS = (
        FAR, FIRST,
        group(KeyTheme.HISTORY, _on_entry,
            row("enter tab right", "open", "all of the entry", FREE, _open)),
        _ALWAYS_ALLOW,
        group(KeyTheme.HISTORY, always,
            row("/", "filter…",
                "show what contains the words you type, as in the queue, also who decided",
                FREE, lambda view, _: view.ask_filter())),
        group(KeyTheme.HISTORY, lambda view: bool(view.screen.history.wanted),
            row("escape", "show all", "show all that ended again",
                FREE, lambda view, _: view.show_all())),
        group(KeyTheme.VIEW, lambda view: not view.screen.history.wanted, _TO_QUEUE),
        _ROWS, *VIEWS, *ANYWHERE,
    )
    # fmt: on


class EntryPage(ScreenPage):
    """An entry of the history, whole."""

    LETS_GO = True

    # fmt: off
    KEYS = (
        LOOKING, *SCROLLING, _ALWAYS_ALLOW,
        group(KeyTheme.HISTORY, _on_entry,
            row("y", "", "copy the command, as it is on record", FREE, _copy)),
        group(KeyTheme.HISTORY, always,
            row("escape tab left", "history", "back to the history", FREE, closes)),
        *VIEWS, *ANYWHERE,
    )
    # fmt: on
