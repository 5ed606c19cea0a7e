"""The queue of cards that wait, and which of them the operator looks at.

Thousands of cards may wait, and each card that comes or goes changes one place.
So the figures about the whole queue are counted as it changes, and nothing here
walks the queue.

The law of this file: the selection is a card's number, never a place in the
list.  Only the operator moves it; news does so once, when nothing is
selected.  A selected card that ends stays where it was until the operator
moves on.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.ui.options import kind_of


class Queue:
    """The waiting cards of a desk, the oldest first; those put aside stand at its end.

    `kinds`: how many cards of each kind there are.
    """

    def __init__(self, desk: Replica) -> None:
        self._desk = desk
        self._known = {card.number: card for card in desk.waiting()}
        self._cards = sorted(self._known.values(), key=_order)
        self.kinds = Counter(map(kind_of, self._cards))
        self._handed_out: Sequence[Card] | None = None

    def cards(self) -> Sequence[Card]:
        """Return the cards, as a value that what comes later does not change."""
        if self._handed_out is None:
            self._handed_out = tuple(self._cards)
        return self._handed_out

    @property
    def aside(self) -> int:
        """How many cards are put aside."""
        return len(self._cards) - bisect_left(self._cards, (True, 0), key=_order)

    def place(self, card: Card) -> int:
        """Return the card's place, or the place it would have."""
        return bisect_left(self._cards, _order(card), key=_order)

    def news(self, number: int) -> None:
        """Take in that a card is new or has changed: the desk is asked for the card as it is now.

        A listener may act on the news of a card, and the news of that act may come first.
        """
        self._handed_out = None
        if (before := self._known.pop(number, None)) is not None:
            del self._cards[self.place(before)]
            self.kinds[kind_of(before)] -= 1
        card = self._desk.card(number)
        if card is not None and card.state is State.WAITING:
            self._known[number] = card
            self._cards.insert(self.place(card), card)
            self.kinds[kind_of(card)] += 1


def _order(card: Card) -> tuple[bool, int]:
    """Return a card's place among all: by number, those put aside after the others."""
    return card.snoozed_until > 0, card.number


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the queue in view, and how many cards are out of it on either side."""

    cards: Sequence[Card]
    above: int = 0
    below: int = 0


class Selection:
    """The queue of waiting cards, and the card among them that is selected."""

    def __init__(self, desk: Replica) -> None:
        self._desk = desk
        self._top = 0
        self.card: Card | None = None
        self.begin()

    def begin(self) -> None:
        """Take the whole queue from the desk; the selection stays."""
        self.queue = Queue(self._desk)
        if self.card is None:
            self.card = next(iter(self.waiting()), None)
        else:
            self.card = self._desk.card(self.card.number) or self.card

    @property
    def ended(self) -> bool:
        """Whether the selected card has ended."""
        return self.card is not None and self.card.state is not State.WAITING

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait, the oldest first, those put aside after the others."""
        return self.queue.cards()

    def news(self, card: Card) -> None:
        """Take in a new or changed card."""
        self.queue.news(card.number)
        first = self.card is None and card.state is State.WAITING
        if first or (self.card is not None and self.card.number == card.number):
            self.card = card

    def step(self, step: int) -> None:
        """Select the next card down (+1) or up (-1); the first and the last are ends.

        From a card that has ended every way leads to one that waits, if any does.
        """
        if not self.ended:
            self._select(self._place() + step)
        else:  # the next card down has the place that it would have
            self._select(self._place() + min(step, 0))

    def far(self, step: int) -> None:
        """Select the card that has waited longest (-1), or the newest (+1)."""
        self._select(0 if step < 0 else len(self.waiting()))

    def _select(self, place: int) -> None:
        if queue := self.waiting():
            self.card = queue[min(max(place, 0), len(queue) - 1)]
        elif self.ended:
            self.card = None

    def pass_over(self) -> None:
        """Select the next card that is not put aside, or else the card before."""
        if (card := self.card) is None:
            return
        awake = [one for one in self.waiting() if not one.snoozed_until]
        after = (one for one in awake if one.number > card.number)
        before = (one for one in reversed(awake) if one.number < card.number)
        self.card = next(after, None) or next(before, card)

    def window(self, height: int) -> Window:
        """Return what of the queue is seen in so many rows; the selected card is among it."""
        queue, place = self.waiting(), self._place()
        ended = [self.card] if self.card is not None and self.ended else []
        total = len(queue) + len(ended)
        lowest = place - height + 1
        self._top = max(min(max(min(self._top, place), lowest), total - height), 0)
        end = self._top + height
        after = queue[place : max(end - len(ended), place)]
        cards = [*queue[self._top : place], *ended, *after]
        return Window(cards, self._top, max(total - end, 0))

    def _place(self) -> int:
        """Return the selected card's place in the queue, or the place it would have."""
        return 0 if self.card is None else self.queue.place(self.card)
