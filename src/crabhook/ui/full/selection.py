"""Which card the operator looks at, and the queue it stands in.

The law of this file: the selection is a card's number, never a place in the
list.  Only the operator moves it; news does so once, when nothing is
selected.  A selected card that ends stays where it was until the operator
moves on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk
from crabhook.broker.states import State
from crabhook.ui.full.queue import Queue


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the queue in view, and how many cards are out of it on either side."""

    cards: Sequence[Card]
    above: int = 0
    below: int = 0


class Selection:
    """The queue of waiting cards, and the one among them that is selected."""

    def __init__(self, desk: Desk) -> None:
        self.queue = Queue(desk)
        self._top = 0
        self.card: Card | None = next(iter(self.waiting()), None)

    def __repr__(self) -> str:
        return f"<Selection {self.card and self.card.number} of {len(self.waiting())}>"

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
        """Select the next card down (+1) or up (-1).

        From a card that has ended every way leads to one that waits, if any
        does; otherwise the first and the last are ends.
        """
        queue = self.waiting()
        if not queue:
            self.card = None if self.ended else self.card
            return
        place = self._place()
        if not self.ended and self.card is not None:
            place += step
        elif step < 0:
            place -= 1  # `place` is where the ended card would stand: the next one down
        self.card = queue[min(max(place, 0), len(queue) - 1)]

    def pass_over(self) -> None:
        """Select the next card that is not put aside, or else the one before."""
        if (card := self.card) is None:
            return
        awake = [one for one in self.waiting() if not one.snoozed_until]
        after = (one for one in awake if one.number > card.number)
        before = (one for one in reversed(awake) if one.number < card.number)
        self.card = next(after, None) or next(before, card)

    def first(self) -> None:
        """Select the card that has waited longest."""
        self.card = next(iter(self.waiting()), None if self.ended else self.card)

    def last(self) -> None:
        """Select the newest card."""
        queue = self.waiting()
        self.card = queue[-1] if queue else (None if self.ended else self.card)

    def window(self, height: int) -> Window:
        """Return what of the queue is seen in so many rows; the selected card is among it."""
        queue, place, extra = self.waiting(), self._place(), int(self.ended)
        total = len(queue) + extra
        lowest = place - height + 1
        self._top = max(min(max(min(self._top, place), lowest), total - height), 0)
        end = self._top + height
        cards = list(queue[self._top : end])
        if self.ended and self.card is not None:
            after = queue[place : max(end - 1, place)]
            cards = [*queue[self._top : place], self.card, *after]
        return Window(cards, self._top, max(total - end, 0))

    def _place(self) -> int:
        """Return the selected card's place in the queue, or the place it would have."""
        if self.card is None:
            return 0
        return self.queue.place(self.card)
