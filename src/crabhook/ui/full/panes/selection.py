"""Which card of the queue the operator looks at, and what of the queue is in view.

The law of this file: the selection is a card's number, never a place in the
list.  Only the operator moves it; news does so once, when nothing is
selected.  A selected card that ends stays where it was until the operator
moves on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.ui.full.panes.queue import Arrangement, Queue, session_of


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the queue in view, and how many cards are out of it on either side.

    `heads`: below which cards, by number, it is said how many more there are of the group.
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
        self._card: Card | None = None
        self.queue = Queue(desk)
        self.begin()

    def begin(self) -> None:
        """Take the whole queue from the desk; the selection stays."""
        self.queue = Queue(self._desk, self.queue.arranged)
        if self.card is None:
            self.card = next(iter(self.waiting()), None)
        else:
            self.card = self._desk.card(self.card.number) or self.card

    @property
    def card(self) -> Card | None:
        """The selected card."""
        return self._card

    @card.setter
    def card(self, card: Card | None) -> None:
        if card is None or self._card is None or card.number != self._card.number:
            self._scrolled = False
        self._card = card

    @property
    def ended(self) -> bool:
        """Whether the selected card has ended."""
        return self.card is not None and self.card.state is not State.WAITING

    @property
    def needed(self) -> int:
        """How many rows show the whole queue."""
        heads = self.queue.heads if self.queue.arranged.grouped else 0
        return len(self.waiting()) + len(self._kept) + heads

    @property
    def _kept(self) -> Sequence[Card]:
        """The selected card where it is not in the queue: it has ended, or is not wanted."""
        if (card := self.card) is None:
            return ()
        place = self._place()
        here = self.waiting()[place : place + 1]
        return () if here and here[0].number == card.number else (card,)

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait and are wanted, in the order they are wanted in."""
        return self.queue.cards()

    def arrange(self, arranged: Arrangement) -> None:
        """Show other cards, or in another order; a selected card that is not wanted is left."""
        self.queue.arrange(arranged)
        self._top, self._scrolled = 0, False
        if self.card is not None and self._kept and not self.ended:
            self.card = next(iter(self.waiting()), self.card)

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
        if not self._kept:
            self._select(self._place() + step)
        else:  # the next card down has the place that it would have
            self._select(self._place() + min(step, 0))

    def far(self, step: int) -> None:
        """Select the first card (-1), or the last (+1)."""
        self._select(0 if step < 0 else len(self.waiting()))

    def _select(self, place: int) -> None:
        if queue := self.waiting():
            self.card = queue[min(max(place, 0), len(queue) - 1)]
        elif self.ended:
            self.card = None

    def choose(self, number: int) -> None:
        """Select a card that waits; one that does not changes nothing."""
        card = self._desk.card(number)
        if card is not None and card.state is State.WAITING:
            self.card = card

    def pass_over(self, leave: Callable[[Card], object] = lambda _: False) -> None:
        """Select the next card that is not put aside and not to be left, or else the one before."""
        if (card := self.card) is None:
            return
        queue, awake = self.waiting(), len(self.waiting()) - self.queue.aside
        place = self.queue.place(replace(card, snoozed_until=0.0))
        others = (*range(place, awake), *range(min(place, awake) - 1, -1, -1))
        each = (queue[one] for one in others if queue[one].number != card.number)
        self.card = next((one for one in each if not leave(one)), card)

    def scroll(self, step: int) -> None:
        """Show cards further down, or up; the selection stays."""
        self._scrolled = True
        self._top += step

    def window(self, height: int) -> Window:
        """Return what of the queue is seen in so many rows.

        The selected card is among it, unless the operator scrolled away from it.
        """
        queue, place, kept = self.waiting(), self._place(), self._kept
        total = len(queue) + len(kept)
        top = self._top
        if not self._scrolled:
            top = max(min(top, place), place - height + 1)
        top = self._top = max(min(top, total - height), 0)

        def run(start: int, end: int) -> list[Card]:
            """Return the cards from one place to another, the kept card among them."""
            after = queue[max(place, start - len(kept)) : max(end - len(kept), place)]
            return [
                *queue[start : min(place, end)],
                *(kept if start <= place < end else ()),
                *after,
            ]

        cards = run(top, top + height)
        if not self.queue.arranged.grouped:
            return Window(cards, top, max(total - top - len(cards), 0))
        heads = {card.number: self.queue.group(card) - 1 for card in cards if self._heads(card)}
        here = next((at for at, card in enumerate(cards, 1) if card is self.card), 0)
        while here and _rows(cards[: here - 1], heads) + 1 > height:
            cards, here, top = cards[1:], here - 1, top + 1
        while len(cards) > max(here, 1) and _rows(cards, heads) > height:
            cards.pop()
        return Window(cards, top, max(total - top - len(cards), 0), heads)

    def _heads(self, card: Card) -> bool:
        """Whether a card is the first of several in its group."""
        queue, place = self.waiting(), self.queue.place(card)
        first = place == 0 or session_of(queue[place - 1]) != session_of(card)
        return first and self.queue.group(card) > 1

    def _place(self) -> int:
        """Return the selected card's place in the queue, or the place it would have."""
        return 0 if self.card is None else self.queue.place(self.card)


def _rows(cards: Sequence[Card], heads: Mapping[int, int]) -> int:
    return len(cards) + sum(card.number in heads for card in cards)
