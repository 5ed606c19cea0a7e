"""The state of the screen: the selection, the stack of open dialogs, and unfinished work.

This module draws and sends nothing, and knows no dialog by its class. Panes read it, dialogs change
their part of it, and the controller does the rest.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from crabhook.datatypes import Bounded
from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.jsontext import Value
from crabhook.model.session import SessionView
from crabhook.present.card import CardDocument
from crabhook.ui.answers import Answers, Seen
from crabhook.ui.full.arming import Arming, Notice, Sight, sight_of
from crabhook.ui.full.dialog import Stack
from crabhook.ui.full.panes.queue import Arrangement, Queue, Selection, Sort
from crabhook.ui.full.panes.views import HistoryList, Listing
from crabhook.ui.full.work import Marks, Work
from crabhook.ui.options import DeskOptions, Watch
from crabhook.ui.text.layout import Detail

SHOWN_KEPT = 20_000  # cards; more than can wait
LONGEST_FILTER = 200  # letters
DANGER_TIMES = 2.5  # times the take-back moment, for a card marked ▲▲


class Screen:
    """One operator's screen. All times are on the desk's clock, in seconds.

    Each part keeps its own laws. `selection`, `answers` and `marks` are about cards, `stack` is
    about where keys go, `work` about unfinished work, and `arming` about what was in view. `lines`
    are the lines typed before, by their purpose.
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
        self.stack = Stack()
        self.lines = defaultdict[Hashable, list[str]](list)
        self.sessions = Listing[SessionView](desk.live, lambda view: view.key)
        self.history = HistoryList(desk)
        self.work = Work(desk)
        self.notice = Notice()
        self.arming = Arming(options.arming)
        self.watch = Watch(options.attention, desk.now())
        self.card_window, self.page_window = Detail(), Detail()
        self.shown = Bounded[int, int](SHOWN_KEPT)  # revisions, as they were on the terminal
        self.last_word = ""  # shown where nothing else is said
        self.done = False

    @property
    def card(self) -> Card | None:
        """The selected card, as it last was."""
        return self.selection.card

    @property
    def waits(self) -> bool:
        """Whether a card is selected that has not ended."""
        return self.card is not None and not self.selection.ended

    @property
    def listing(self) -> Listing[Any] | None:
        """The rows of the view, where that is not the queue."""
        return self.stack.view.listing

    @property
    def alone(self) -> bool:
        """Whether the large part of the screen shows a page without a card."""
        top = self.stack.top
        return top.FILLS or self.listing is not None or (top.ASKS and top.number is None)

    def sight(self) -> Sight:
        """Return what keys can act on in a picture drawn now; under a page the card is not seen."""
        card = self.card if self.listing is None else None
        cards = self.stack.top.shows(card, self.marks)
        return Sight(self._view(), {card.number: card.revision for card in cards})

    def seen(self, card: Card) -> Seen:
        """Return a card with its revision that was last on the terminal."""
        return Seen(card, self.shown.get(card.number, 0))

    def _view(self) -> Hashable:
        """Return an identity of the present view, for all that matters to a decision."""
        top, card = self.stack.top, self.card
        if self.listing is not None and not top.ASKS:
            return None
        return top.acts_on(None if card is None else sight_of(card), marked=bool(self.marks))

    def armed(self, times: float = 1.0) -> bool:
        """Whether keys may decide the card or page: it was in view for `times` arming delays."""
        return self.arming.armed(self._view(), self.desk.now(), times)

    def given(self, card: Card) -> Card:
        """Return a card as it will be with the answer that is held or waits for a second yes."""
        if (doubt := self.stack.top.doubt) is not None:
            return self.answers.as_given(card, doubt.decision)
        return self.answers.given(card)

    def document(self, card: Card) -> CardDocument:
        """Return what a card says, with the answer that is held or waits for a second yes."""
        return self.work.documents.of(self.given(card))

    def answers_given(self, card: Card) -> Mapping[str, Value] | None:
        """Return a question's input with its answers, once they are on their way or were given."""
        sent = self.answers.on_its_way(card.number)
        decision = sent.decision if sent is not None else card.decision
        return decision.updated_input if decision is not None else None

    def counts(self) -> tuple[int, int]:
        """Return how many cards wait, and how many answers are held."""
        return self.queue.count, self.answers.waiting

    def _waits_again(self, number: int) -> None:
        """Arm a card again whose answer was dropped: a key for the answer is not for the card."""
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
