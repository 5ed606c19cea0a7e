"""The queue of cards that wait, filtered and ordered.

Thousands of cards may wait. So the counts follow each change, and only a new filter or order walks
the whole queue.

The law of the selection: it is a card's number, never a place. The operator alone moves it; news
does so only when nothing is selected, and when a card comes while the selected card is being
answered. A selected card that ends stays in place until the operator moves on.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum

from crabhook.datatypes import frozen
from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.model.session import SessionKey
from crabhook.present.summary import told_of, wants
from crabhook.ui.options import kind_of


class Sort(StrEnum):
    """The orders of the queue; cards put aside are last in each."""

    ARRIVAL = "arrival"
    RISK = "risk"
    SESSION = "session"


@frozen
class Arrangement:
    """The operator's filter and order of the queue.

    A card must have all words of `wanted`, in any part, or as in `agent:codex` in one part.
    `grouped`: session by session.
    """

    sort: Sort = Sort.ARRIVAL
    grouped: bool = False
    wanted: str = ""

    def __str__(self) -> str:
        parts = (f"by {self.sort}", "grouped" if self.grouped else "")
        return " · ".join(filter(None, parts))


def session_of(card: Card) -> tuple[SessionKey, bool]:
    """Return the group of a card: its session, and whether it is put aside."""
    return card.event.session_key, card.snoozed_until > 0


class Queue:
    """The waiting cards that pass the filter, in order.

    `kinds` and `levels` count all waiting cards, by kind and by level of risk.
    """

    def __init__(self, desk: Replica, arranged: Arrangement | None = None) -> None:
        self._desk = desk
        self._known = {card.number: card for card in desk.waiting()}
        self._first: dict[SessionKey, int] = {}  # of each session, the number of its first card
        self._of_session: Counter[SessionKey] = Counter()
        self._told: dict[int, Mapping[str, str]] = {}  # of those that a filter checked
        self.kinds = Counter(map(kind_of, self._known.values()))
        self.levels = Counter(card.risk.level for card in self._known.values())
        for card in self._known.values():
            self._enter(card)
        self.arrange(arranged or Arrangement())

    def arrange(self, arranged: Arrangement) -> None:
        """Show other cards, or in another order."""
        self.arranged = arranged
        wanted = filter(self._wanted, self._known.values())
        self._cards = sorted(wanted, key=self._order)
        self._groups = Counter(map(session_of, self._cards))
        self._handed_out: Sequence[Card] | None = None

    @property
    def count(self) -> int:
        """How many cards wait, wanted or not."""
        return len(self._known)

    def awake(self, number: int) -> bool:
        """Whether a card waits and is not put aside."""
        card = self._known.get(number)
        return card is not None and card.snoozed_until <= 0

    def cards(self) -> Sequence[Card]:
        """Return the wanted cards in order, as a value that what comes later does not change."""
        if self._handed_out is None:
            self._handed_out = tuple(self._cards)
        return self._handed_out

    @property
    def aside(self) -> int:
        """How many of the cards are put aside."""
        return len(self._cards) - bisect_left(self._cards, (True, 0, -9, 0), key=self._order)

    def place(self, card: Card) -> int:
        """Return the card's place, or the place it would have."""
        return bisect_left(self._cards, self._order(card), key=self._order)

    def group(self, card: Card) -> int:
        """Return how many cards the group of a card has."""
        return self._groups[session_of(card)]

    @property
    def heads(self) -> int:
        """How many groups have more than one card."""
        return sum(count > 1 for count in self._groups.values())

    def news(self, number: int) -> None:
        """Take in that a card is new or changed, and read its present state from the desk.

        A listener may act on news of a card, and the news of that act may come first.
        """
        self._handed_out = None
        card = self._desk.card(number)
        waits = card is not None and card.state is State.WAITING
        if card is not None and waits:
            self._enter(card)  # before the card it was has left, so that its session keeps its rank
        if (before := self._known.pop(number, None)) is not None:
            self._leave(before)
        if card is not None and waits:
            self._known[number] = card
            self.kinds[kind_of(card)] += 1
            self.levels[card.risk.level] += 1
            if self._wanted(card):
                self._cards.insert(self.place(card), card)
                self._groups[session_of(card)] += 1

    def _wanted(self, card: Card) -> bool:
        if not self.arranged.wanted:
            return True
        if (parts := self._told.get(card.number)) is None:
            parts = self._told[card.number] = told_of(card)
        return wants(self.arranged.wanted, parts)

    def _enter(self, card: Card) -> None:
        session = card.event.session_key
        self._first.setdefault(session, card.number)
        self._of_session[session] += 1

    def _leave(self, card: Card) -> None:
        place, session = self.place(card), card.event.session_key
        if self._cards[place : place + 1] == [card]:
            del self._cards[place]
            self._groups -= Counter([session_of(card)])
        self._told.pop(card.number, None)
        self.kinds[kind_of(card)] -= 1
        self.levels[card.risk.level] -= 1
        self._of_session[session] -= 1
        if not self._of_session[session]:
            del self._of_session[session], self._first[session]

    def _order(self, card: Card) -> tuple[bool, int, int, int]:
        """Return a card's sort key; cards put aside come last."""
        sort, by_session = self.arranged.sort, self.arranged.grouped
        session = self._first.get(card.event.session_key, card.number)
        return (
            card.snoozed_until > 0,
            session if by_session or sort is Sort.SESSION else 0,
            -card.risk.level if sort is Sort.RISK else 0,
            card.number,
        )


@frozen
class Window:
    """The visible part of the queue, and the number of cards above and below.

    `heads`: the cards, by number, above which the size of their group is shown.
    """

    cards: Sequence[Card]
    above: int = 0
    below: int = 0
    heads: Mapping[int, int] = field(default_factory=dict)


class Selection:
    """The queue of waiting cards, and the card among them that is selected."""

    def __init__(self, desk: Replica) -> None:
        self._desk = desk
        self._top = 0
        self._scrolled = False  # away from the selected card, until another is selected
        self.card: Card | None = None  # the selected card
        self.queue = Queue(desk)
        self.begin()

    def begin(self) -> None:
        """Take the whole queue from the desk; the selection stays."""
        self.queue = Queue(self._desk, self.queue.arranged)
        if self.card is None:
            self._select_card(next(iter(self.queue.cards()), None))
        else:
            self._select_card(self._desk.card(self.card.number) or self.card)

    def _select_card(self, card: Card | None) -> None:
        """Select a card, or let the selected card be as it is now."""
        if card is None or self.card is None or card.number != self.card.number:
            self._scrolled = False
        self.card = card

    @property
    def ended(self) -> bool:
        """Whether the selected card has ended."""
        return self.card is not None and self.card.state is not State.WAITING

    @property
    def needed(self) -> int:
        """How many rows show the whole queue."""
        heads = self.queue.heads if self.queue.arranged.grouped else 0
        return len(self.queue.cards()) + len(self._kept) + heads

    @property
    def _kept(self) -> Sequence[Card]:
        """The selected card if it is not in the queue: it has ended, or the filter hides it."""
        if (card := self.card) is None:
            return ()
        place = self._place()
        here = self.queue.cards()[place : place + 1]
        return () if here and here[0].number == card.number else (card,)

    def arrange(self, arranged: Arrangement) -> None:
        """Show other cards, or in another order; a selected card that is not wanted is left."""
        self.queue.arrange(arranged)
        self._top, self._scrolled = 0, False
        if self.card is not None and self._kept and not self.ended:
            self._select_card(next(iter(self.queue.cards()), self.card))

    def news(self, card: Card) -> None:
        """Take in a new or changed card."""
        self.queue.news(card.number)
        first = self.card is None and card.state is State.WAITING
        if first or (self.card is not None and self.card.number == card.number):
            self._select_card(card)

    def step(self, step: int) -> None:
        """Select the next card down (+1) or up (-1); both ends stop.

        From an ended card every step leads to a waiting card, if any.
        """
        if not self._kept:
            self._select(self._place() + step)
        else:  # the next card down has the place that it would have
            self._select(self._place() + min(step, 0))

    def far(self, step: int) -> None:
        """Select the first card (-1), or the last (+1)."""
        self._select(0 if step < 0 else len(self.queue.cards()))

    def _select(self, place: int) -> None:
        if queue := self.queue.cards():
            self._select_card(queue[min(max(place, 0), len(queue) - 1)])
        elif self.ended:
            self._select_card(None)

    def choose(self, number: int) -> None:
        """Select a card that waits; do nothing if it does not wait."""
        card = self._desk.card(number)
        if card is not None and card.state is State.WAITING:
            self._select_card(card)

    def pass_over(self, leave: Callable[[Card], object] = lambda _: False) -> None:
        """Select the next card that is neither put aside nor to be left, else the card before."""
        if (card := self.card) is None:
            return
        queue = self.queue.cards()
        awake = len(queue) - self.queue.aside
        place = self.queue.place(replace(card, snoozed_until=0.0))
        others = (*range(place, awake), *range(min(place, awake) - 1, -1, -1))
        each = (queue[at] for at in others if queue[at].number != card.number)
        self._select_card(next((other for other in each if not leave(other)), card))

    def scroll(self, step: int) -> None:
        """Show cards further down, or up; the selection stays."""
        self._scrolled = True
        self._top += step

    def window(self, height: int) -> Window:
        """Return the visible part of the queue, with the selected card unless scrolled away."""
        queue, place, kept = self.queue.cards(), self._place(), self._kept
        total = len(queue) + len(kept)
        top = self._top
        if not self._scrolled:
            top = max(min(top, place), place - height + 1)
        top = self._top = max(min(top, total - height), 0)

        def at(row: int) -> Card:
            if kept and row == place:
                return kept[0]
            return queue[row - 1 if kept and row > place else row]

        cards = [at(row) for row in range(top, min(top + height, total))]
        if not self.queue.arranged.grouped:
            return Window(cards, top, max(total - top - len(cards), 0))
        heads = {card.number: self.queue.group(card) for card in cards if self._heads(card)}
        here = next((at for at, card in enumerate(cards, 1) if card is self.card), 0)
        while here > 1 and _rows(cards[:here], heads) > height:
            cards, here, top = cards[1:], here - 1, top + 1
        while len(cards) > max(here, 1) and _rows(cards, heads) > height:
            cards.pop()
        if _rows(cards[:1], heads) > height:
            heads = {}  # the card itself comes first
        return Window(cards, top, max(total - top - len(cards), 0), heads)

    def _heads(self, card: Card) -> bool:
        """Whether a card is the first of several in its group."""
        queue, place = self.queue.cards(), self.queue.place(card)
        first = place == 0 or session_of(queue[place - 1]) != session_of(card)
        return first and self.queue.group(card) > 1

    @property
    def place(self) -> int:
        """The selected card's place in the queue, from 1 on; 0 for none."""
        return 0 if self.card is None else self._place() + 1

    def _place(self) -> int:
        return 0 if self.card is None else self.queue.place(self.card)


def _rows(cards: Sequence[Card], heads: Mapping[int, int]) -> int:
    return len(cards) + sum(card.number in heads for card in cards)
