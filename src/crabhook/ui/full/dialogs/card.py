"""The queue, and the pages of its selected card in which that is decided: its text and its form."""

from crabhook.ui.full.dialog import always, closes, group, row
from crabhook.ui.full.dialogs import question
from crabhook.ui.full.dialogs.bulk import MARKED, MARKING, UNMARK
from crabhook.ui.full.dialogs.decide import DECIDING, ITS_TIME
from crabhook.ui.full.dialogs.help import ANYWHERE
from crabhook.ui.full.dialogs.lists import VIEWS, ask_filter
from crabhook.ui.full.dialogs.mcp_form import FillPage, filling_of
from crabhook.ui.full.dialogs.orders import COME_BACK, GO_AWAY, ORDERS
from crabhook.ui.full.dialogs.page import (
    CHOOSING,
    COPY,
    FAR,
    FAR_AWAY,
    FREE,
    LOOKING,
    PAGES,
    SCROLLING,
    SEEN,
    TAKE_BACK,
    WHOLE,
    ScreenPage,
    View,
    has_card,
)
from crabhook.ui.full.dialogs.question import form_of
from crabhook.ui.full.effects import Effects, Enter, reveal
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.themes import KeyTheme


class QueueView(View):
    """The queue of what waits; keys act on its selected card."""

    LETS_GO = True

    def move(self, step: int) -> Effects:
        """Select the next card down, or up."""
        self.screen.select(lambda: self.screen.selection.step(step))
        return ()

    def far(self, step: int) -> Effects:
        """Select the first card, or the last."""
        self.screen.select(lambda: self.screen.selection.far(step))
        return ()

    def ask_filter(self) -> Effects:
        """Ask for the words that a card must have."""
        return ask_filter("the queue", self.screen.queue.arranged.wanted, self.screen.want)

    # fmt: off
    KEYS = (
        TAKE_BACK, COME_BACK, question.ANSWERING, MARKED, UNMARK, DECIDING, ITS_TIME, MARKING,
        group(KeyTheme.QUEUE, has_card,
            row("enter tab right", "open", "into the request: scroll it, answer its questions",
                FREE, lambda *_: (Enter(),))),
        group(KeyTheme.CHOOSING, has_card, *CHOOSING.rows), FAR, PAGES,
        group(KeyTheme.ARRANGING, lambda view: view.screen.queue.count > 0,
            row("/", "filter…",
                "show only what has your words: also risk: agent: machine: session: tool:",
                FREE, lambda view, _: view.ask_filter()),
            row("s", "sort", "by arrival, by risk, or by session",
                FREE, lambda view, _: view.screen.sort()),
            row("g", "group", "put the cards of a session together, or no longer",
                FREE, lambda view, _: view.screen.group())),
        group(KeyTheme.ARRANGING,
            lambda view: bool(view.screen.queue.arranged.wanted) and not view.screen.marks,
            row("escape", "show all", "show all that waits again",
                FREE, lambda view, _: view.screen.want(""))),
        *VIEWS, ORDERS, GO_AWAY, WHOLE, COPY, SEEN, *ANYWHERE,
    )
    # fmt: on


class TextPage(ScreenPage):
    """The selected card's text, to be scrolled."""

    LETS_GO = True

    # fmt: off
    KEYS = (
        TAKE_BACK, COME_BACK, MARKED, DECIDING, ITS_TIME, MARKING, LOOKING,
        group(KeyTheme.OUT, always,
            row("escape tab left", "queue", "back to the queue", FREE, closes)),
        *SCROLLING, *VIEWS, ORDERS, GO_AWAY, WHOLE, COPY, SEEN, *ANYWHERE,
    )
    # fmt: on


class FormPage(ScreenPage):
    """The questions of the selected card, one at a time."""

    CHOOSES = LETS_GO = True

    @property
    def enters(self) -> str:
        """What enter does at the operator's place, in words."""
        form = form_of(self.screen)
        return "" if form is None else question.enters(form)

    def move(self, step: int) -> Effects:
        """Go down a row of the question, or up."""
        if (form := form_of(self.screen)) is None:
            return super().move(step)
        form.move(step)
        return (reveal(form.draft.cursor + 1),)

    def far(self, step: int) -> Effects:
        """Go to the first row, or to the last."""
        return self.move(step * FAR_AWAY)

    # fmt: off
    KEYS = (
        TAKE_BACK, question.IN_THE_FORM, question.ANSWERING, DECIDING, ITS_TIME, LOOKING,
        question.BETWEEN_QUESTIONS, *SCROLLING, WHOLE, COPY, SEEN, *ANYWHERE,
    )
    # fmt: on


def page_of_card(screen: Screen) -> type[ScreenPage]:
    """Return the page that is entered from the queue."""
    if form_of(screen) is not None:
        return FormPage
    return TextPage if filling_of(screen) is None else FillPage
