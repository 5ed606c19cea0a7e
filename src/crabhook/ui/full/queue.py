"""The queue: cards that wait, kept in their order by the news of each, never asked for anew.

Thousands may wait, and every card that comes or goes changes one place.  So
what is told of the whole queue is counted as it changes, and nothing here
walks it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk
from crabhook.broker.states import State
from crabhook.ui.attention import Kind, kind_of


class Queue:
    """The waiting cards of a desk, the oldest first; those put aside stand at its end."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._known = {card.number: card for card in desk.waiting()}
        self._cards = sorted(self._known.values(), key=_order)
        self._kinds = Counter(map(kind_of, self._cards))
        self._handed_out: Sequence[Card] | None = None

    def __repr__(self) -> str:
        return f"<Queue of {len(self._cards)}>"

    def cards(self) -> Sequence[Card]:
        """Return the cards, as a value that what comes later does not change."""
        if self._handed_out is None:
            self._handed_out = tuple(self._cards)
        return self._handed_out

    @property
    def kinds(self) -> Mapping[Kind, int]:
        """How many cards of each kind there are."""
        return self._kinds

    @property
    def aside(self) -> int:
        """How many cards are put aside."""
        return len(self._cards) - bisect_left(self._cards, (True, 0), key=_order)

    def place(self, card: Card) -> int:
        """Return the card's place, or the place it would have."""
        return bisect_left(self._cards, _order(card), key=_order)

    def news(self, number: int) -> None:
        """Take in that a card is new or has changed: as the desk has it now, not as it was told.

        What a listener does at the news of one card may be told before that news itself.
        """
        self._handed_out = None
        if (before := self._known.pop(number, None)) is not None:
            del self._cards[self.place(before)]
            self._kinds[kind_of(before)] -= 1
        card = self._desk.card(number)
        if card is not None and card.state is State.WAITING:
            self._known[number] = card
            self._cards.insert(self.place(card), card)
            self._kinds[kind_of(card)] += 1


def _order(card: Card) -> tuple[bool, int]:
    """Return a card's place among all: by number, those put aside after the others."""
    return card.snoozed_until > 0, card.number
