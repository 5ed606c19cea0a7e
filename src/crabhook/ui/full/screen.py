"""The state of the screen: the selection, the open dialogs, and unfinished work.

This module draws and sends nothing: panes read it, key handlers change their part of it, and the
controller does the rest.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from crabhook.datatypes import Bounded
from crabhook.desk.acts import NOTHING_ASKED, Asked, kind_of
from crabhook.desk.replica import Replica
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.decision import PASS_ALONE, Beside
from crabhook.model.jsontext import Value
from crabhook.model.session import SessionView
from crabhook.ui.answers import Answers, Seen
from crabhook.ui.commands.decide import suggestions
from crabhook.ui.full.arming import Arming, Notice, Sight, sight_of
from crabhook.ui.full.dialogs import mcp_form, question
from crabhook.ui.full.dialogs.bulk import Marks
from crabhook.ui.full.dialogs.mcp_form_state import FillIn
from crabhook.ui.full.dialogs.plan import PlanNotes
from crabhook.ui.full.dialogs.question import Form
from crabhook.ui.full.effects import Effects, Look, reveal
from crabhook.ui.full.filters import VIEWS, KeyContext, Mode
from crabhook.ui.full.focus import Focus, Work
from crabhook.ui.full.panes.queue import Arrangement, Queue, Selection, Sort
from crabhook.ui.full.panes.views import History, Listing
from crabhook.ui.options import DeskOptions, Watch
from crabhook.ui.text.layout import Detail

_FAR = 1 << 30
_WITH_ROWS = (Mode.FORM, Mode.MENU, Mode.FILL, Mode.NOTES, Mode.SESSIONS, Mode.HISTORY)
SHOWN_KEPT = 20_000  # cards; more than can wait
LONGEST_FILTER = 200  # letters
DANGER_TIMES = 2.5  # times the take-back moment, for a card marked ▲▲


class Screen:
    """One operator's screen.  All times are on the desk's clock, in seconds.

    Each part keeps its own laws: `selection`, `answers` and `marks` are about cards, `focus` about
    where keys go, `work` about unfinished work, `arming` about what was in view.
    """

    def __init__(self, desk: Replica, options: DeskOptions, title: str = "") -> None:
        self.desk = desk
        self.options = options
        self.title = title
        self.selection = Selection(desk)
        self.answers = Answers(
            desk, options.take_back, self.say, DANGER_TIMES, waits_again=self._waits_again
        )
        self.marks = Marks()
        self.focus = Focus(options.reasons)
        self.sessions = Listing[SessionView](desk.live, lambda view: view.key)
        self.history = History(desk)
        self.work = Work(desk)
        self.notice = Notice()
        self.arming = Arming(options.arming)
        self.watch = Watch(options.attention, desk.now())
        self.card_window, self.page_window = Detail(), Detail()
        self.shown = Bounded[int, int](SHOWN_KEPT)  # revisions, as they were on the terminal
        self.last_word = ""  # shown where nothing else is said
        self.done = False
        self._opened: int | None = None  # the card whose form was opened when it was selected

    @property
    def card(self) -> Card | None:
        """The selected card, as it last was."""
        return self.selection.card

    @property
    def form(self) -> Form | None:
        """The selected card's form, if it has questions that can be read and still be answered."""
        if (card := self.card) is None or Beside.INPUT not in card.choices.beside:
            return None
        form = self.work.about(card).form
        return form if isinstance(form, Form) else None

    @property
    def filling(self) -> FillIn | None:
        """The selected card's form of an MCP server, if it is about one."""
        return None if self.card is None else self.work.about(self.card).filling

    @property
    def plan(self) -> PlanNotes | None:
        """The selected card's plan, and the notes on it."""
        return None if self.card is None else self.work.plan(self.card)

    @property
    def alone(self) -> bool:
        """Whether the large part of the screen shows a page without a card."""
        focus = self.focus
        elsewhere = focus.view is not Mode.QUEUE
        return self.fills or elsewhere or (focus.on_page and focus.number is None)

    @property
    def listing(self) -> Listing[Any] | None:
        """The rows of the view, where that is not the queue."""
        if self.focus.view is Mode.SESSIONS:
            return self.sessions
        return self.history if self.focus.view is Mode.HISTORY else None

    @property
    def fills(self) -> bool:
        """Whether the page of keys fills the screen."""
        return self.focus.mode in (Mode.HELP, Mode.SEARCH)

    @property
    def needed(self) -> int:
        """How many rows show all of the view; an entry that is opened whole takes their room."""
        if self.listing is None:
            return self.selection.needed
        return 1 if self.focus.mode is Mode.ENTRY else max(len(self.listing.rows()), 1)

    def key_context(self) -> KeyContext:
        """Return what decides which keys make sense now."""
        card, waits = self.card, self.card is not None and not self.selection.ended
        focus, notes = self.focus, self.plan
        return KeyContext(
            mode=focus.mode,
            card=card is not None,
            waits=waits,
            form=self.form is not None,
            held=self.answers.waiting > 0,
            asked=self._asked(card, waits=waits),
            role=self.desk.role(),
            marked=bool(self.marks),
            away=any(order.kind is OrderKind.AWAY for order in self.desk.orders()),
            fields=self.filling is not None,
            plan=notes is not None,
            revised=card is not None and notes is not None and bool(self.work.before(card)),
            turns=focus.menu is not None and focus.menu.turn is not None,
            keeps=focus.typing is not None and focus.typing.ask.kept,
            enters=self._enters(),
            offers=bool(focus.offers),
            filters=focus.typing is not None and focus.typing.ask.typed is not None,
            filtered=bool((self.history if self.listing else self.queue.arranged).wanted),
            entry=self.listing is not None and self.listing.chosen is not None,
        )

    def _asked(self, card: Card | None, *, waits: bool) -> Asked:
        """Return what the selected card can be told, and what it is about."""
        if card is None:
            return NOTHING_ASKED
        choices = card.choices if waits else PASS_ALONE
        kind = kind_of(choices, questions=self.form is not None, plan=self.plan is not None)
        return Asked(choices, kind, bool(suggestions(card)))

    def _enters(self) -> str:
        """Return what enter does now, in words, where the table cannot know it."""
        focus = self.focus
        if focus.typing is not None:
            return focus.typing.enters
        if focus.mode is Mode.FORM and self.form is not None:
            return question.enters(self.form)
        return mcp_form.enters(self.filling) if focus.mode is Mode.FILL and self.filling else ""

    def sight(self) -> Sight:
        """Return what keys can act on in a picture drawn now; under a page the card is not seen."""
        focus = self.focus
        marked = self.marks.cards() if focus.mode is Mode.CONFIRM else ()
        covered = focus.on_page or focus.mode is Mode.EDIT or focus.view is not Mode.QUEUE
        cards = marked if covered or self.card is None else (self.card,)
        return Sight(self._view(), {card.number: card.revision for card in cards})

    def seen(self, card: Card) -> Seen:
        """Return a card with its revision that was last on the terminal."""
        return Seen(card, self.shown.get(card.number, 0))

    def _view(self) -> Hashable:
        """Return an identity of the present view, for all that matters to a decision."""
        focus = self.focus
        elsewhere = focus.view is not Mode.QUEUE and not focus.on_page
        if self.fills or focus.mode is Mode.ALL or elsewhere:
            return None
        card = self.card and sight_of(self.card, reviewing=focus.mode is Mode.REVIEW)
        if focus.proposal is not None:
            about = focus.proposal.number is not None
            return about and card, "proposal", focus.proposal.content().key
        if focus.menu is not None:
            return focus.menu.number is not None and card, focus.menu.key
        if focus.mode is Mode.EDIT:
            return "edit", card
        if focus.doubt is not None:
            return card, focus.doubt.sure
        # the set of cards that a key decides is part of the view
        return None if card is None else (card, bool(self.marks))

    def armed(self, times: float = 1.0) -> bool:
        """Whether keys may decide the card or page: it was in view for `times` arming delays."""
        return self.arming.armed(self._view(), self.desk.now(), times)

    def given(self, card: Card) -> Card:
        """Return a card as it will be with the answer that is held or waits for a second yes."""
        if (doubt := self.focus.doubt) is not None:
            return self.answers.as_given(card, doubt.decision)
        return self.answers.given(card)

    def answers_given(self, card: Card) -> Mapping[str, Value] | None:
        """Return a question's input with its answers, once they are on their way or were given."""
        sent = self.answers.on_its_way(card.number)
        decision = sent.decision if sent is not None else card.decision
        return decision.updated_input if decision is not None else None

    def counts(self) -> tuple[int, int]:
        """Return how many cards wait, and how many answers are held."""
        return self.queue.count, self.answers.waiting

    def _waits_again(self, number: int) -> None:
        """Arm a card anew whose answer was dropped: a key for the answer is none for the card."""
        if self.card is not None and self.card.number == number:
            self.arming.restart(self.desk.now())

    def say(self, text: str) -> None:
        """Show a sentence to the operator; an empty sentence leaves the last in view."""
        self.notice.say(text, self.desk.now())

    def select(self, go: Callable[[], None]) -> None:
        """Select another card by `go`; forget what was begun about an ended card that is left."""
        before, ended = self.card, self.selection.ended
        go()
        if before is not None and ended and self.card is not before:
            self.work.forget(before.number)

    # What of the queue is seen.

    @property
    def queue(self) -> Queue:
        """The waiting cards that pass the filter, in order."""
        return self.selection.queue

    def want(self, text: str) -> None:
        """Show only the cards that match the typed words."""
        arranged = replace(self.queue.arranged, wanted=text.strip()[:LONGEST_FILTER])
        if arranged != self.queue.arranged:
            self.select(lambda: self.selection.arrange(arranged))

    def sort(self) -> None:
        """Put the queue into the next order."""
        sorts, arranged = list(Sort), self.queue.arranged
        after = sorts[(sorts.index(arranged.sort) + 1) % len(sorts)]
        self._arrange(replace(arranged, sort=after))

    def group(self) -> None:
        """Put the cards of a session together, or no longer."""
        arranged = self.queue.arranged
        self._arrange(replace(arranged, grouped=not arranged.grouped))

    def _arrange(self, arranged: Arrangement) -> None:
        self.select(lambda: self.selection.arrange(arranged))
        place, cards = self.selection.place, len(self.queue.cards())
        first = (
            f": #{self.card.number} is {place} of {cards}, home goes to the first"
            if (self.card is not None and place > 1)
            else ""
        )
        self.say(f"queue {arranged}{first}")

    # Moving about.

    def move(self, step: int) -> Effects:
        """Go down a card, a row of a form or a list, or a row of text; up with a negative step."""
        mode, menu = self.focus.mode, self.focus.menu
        if mode in VIEWS:
            if self.listing is not None:
                self.listing.move(step)
            else:
                self.select(lambda: self.selection.step(step))
            return ()
        if mode is Mode.FORM and (form := self.form) is not None:
            form.move(step)
            return (reveal(form.draft.cursor + 1),)
        if mode is Mode.FILL and (filling := self.filling) is not None:
            filling.move(step)
            return (reveal(filling.stop + 1),)
        if mode is Mode.NOTES and (notes := self.plan) is not None:
            notes.move(step)
            return (reveal(notes.at),)
        if mode is Mode.MENU and menu is not None:
            menu.move(step)
            return (reveal(menu.cursor + 1),)
        return (Look(lambda window: window.scroll(step)),)

    def go_far(self, step: int) -> Effects:
        """Go to the first card or row, or to the last."""
        if self.focus.mode is Mode.QUEUE:
            self.select(lambda: self.selection.far(step))
            return ()
        if self.focus.mode in _WITH_ROWS:
            return self.move(step * _FAR)
        return (Look(Detail.to_start if step < 0 else Detail.to_end),)

    def move_page(self, step: int) -> Effects:
        """Go a page of a view's rows down, or up."""
        return self.move(step * self.listing.page) if self.listing is not None else ()

    def look_into(self, view: Mode) -> None:
        """Show one of the views."""
        if view is Mode.HISTORY and self.focus.view is not view:
            self.history.begin()
        self.focus.go(view)

    def open_form(self) -> None:
        """Go into the form of a card that was just selected: once, so that a way out stays."""
        number = self.card.number if self.card else None
        if self.focus.mode is not Mode.QUEUE or number == self._opened:
            return
        self._opened = number
        waits = number is not None and not self.selection.ended
        if waits and not self.marks and (self.form or self.filling):
            self.enter()

    def enter(self) -> None:
        """Go into the selected card."""
        shown = Mode.TEXT if self.filling is None else Mode.FILL
        self.focus.go(shown if self.form is None else Mode.FORM)
