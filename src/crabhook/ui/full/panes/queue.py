"""The queue of cards that wait: what of it is wanted, and in which order.

Thousands of cards may wait, and each card that comes or goes changes one place.
So the figures about the whole queue are counted as it changes, and nothing here
walks the queue but a change of what is to be seen of it, and in which order.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.ui.cards.summary import told_of, wants
from crabhook.ui.options import kind_of


class Sort(StrEnum):
    """The orders in which the queue may stand; those put aside are last in each."""

    ARRIVAL = "arrival"
    RISK = "risk"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What of the queue the operator wants to see, and how.

    `wanted` are words that a card has to tell, each in any part of it, or as in `agent:codex` in
    one part; empty wants all.  `grouped`: session by session.
    """

    sort: Sort = Sort.ARRIVAL
    grouped: bool = False
    wanted: str = ""

    def __str__(self) -> str:
        """Say it in the words of the queue's title."""
        parts = (f"by {self.sort}", "grouped" if self.grouped else "")
        return " · ".join(filter(None, parts))


def session_of(card: Card) -> tuple[str, bool]:
    """Return the group of a card: its session, and whether it is put aside."""
    return card.event.session, card.snoozed_until > 0


class Queue:
    """The waiting cards of a desk that are wanted, in the order they are wanted in.

    Of all that wait, `kinds` and `levels` are how many there are of each kind and of each
    level of risk.
    """

    def __init__(self, desk: Replica, arranged: Arrangement | None = None) -> None:
        self._desk = desk
        self._known = {card.number: card for card in desk.waiting()}
        self._first: dict[str, int] = {}  # of each session, the number of its first card
        self._of_session: Counter[str] = Counter()
        self._told: dict[int, Mapping[str, str]] = {}  # of those that a filter looked at
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

    def cards(self) -> Sequence[Card]:
        """Return the cards, as a value that what comes later does not change."""
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
        """Return how many cards stand in the group of a card."""
        return self._groups[session_of(card)]

    @property
    def heads(self) -> int:
        """How many groups have more than one card."""
        return sum(count > 1 for count in self._groups.values())

    def news(self, number: int) -> None:
        """Take in that a card is new or has changed: the desk is asked for the card as it is now.

        A listener may act on the news of a card, and the news of that act may come first.
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
        if (told := self._told.get(card.number)) is None:
            told = self._told[card.number] = told_of(card)
        return wants(self.arranged.wanted, told)

    def _enter(self, card: Card) -> None:
        session = card.event.session
        self._first.setdefault(session, card.number)
        self._of_session[session] += 1

    def _leave(self, card: Card) -> None:
        place, session = self.place(card), card.event.session
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
        """Return a card's place among all, those put aside after the others."""
        sort, by_session = self.arranged.sort, self.arranged.grouped
        session = self._first.get(card.event.session, card.number)
        return (
            card.snoozed_until > 0,
            session if by_session or sort is Sort.SESSION else 0,
            -card.risk.level if sort is Sort.RISK else 0,
            card.number,
        )
