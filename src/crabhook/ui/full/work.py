"""What the operator has begun about cards: the work about each, and which cards are marked.

The law of the marks: a mark holds for one revision of a card. A card that ends or changes loses its
mark, so no mark decides what the operator has not seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from crabhook.desk.replica import Replica
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Decision
from crabhook.present.around import CardDocuments
from crabhook.present.summary import asked_again

_Begun = TypeVar("_Begun")


@dataclass(slots=True)
class CardWork:
    """What the operator began about one card.

    `dialogs`: what each dialog made of the card and keeps about it, by the function that made it.
    `message` goes with the decision to the agent's user. `quiet`: the decision suppresses the
    hook's output.
    """

    dialogs: dict[Callable[..., object], Any] = field(default_factory=dict)
    message: str = ""
    quiet: bool = False


class OneCard:
    """The number of the one card that is shown in another way."""

    number: int | None = None

    def turn(self, card: Card | None) -> None:
        """Show this card so, or no longer."""
        number = card.number if card else None
        self.number = None if self.number == number else number


class Work(dict[int, CardWork]):
    """What the operator began about cards, each kept while its card lives.

    `bare` is the card with its secrets shown, `unfolded` the card with its blanks shown. `changes`
    is the card that shows what its plan changes of the plan before.
    """

    def __init__(self, desk: Replica) -> None:
        super().__init__()
        self._desk = desk
        self.documents = CardDocuments(desk)
        self.bare, self.unfolded, self.changes = OneCard(), OneCard(), OneCard()

    def about(self, card: Card) -> CardWork:
        """Return what was begun about a card."""
        if card.number not in self:
            self[card.number] = CardWork()
        return self[card.number]

    def begun(self, card: Card, begin: Callable[[Card, Replica], _Begun]) -> _Begun:
        """Return what a dialog began about a card; the first time, `begin` makes it."""
        dialogs = self.about(card).dialogs
        if begin not in dialogs:
            dialogs[begin] = begin(card, self._desk)
        kept: _Begun = dialogs[begin]
        return kept

    def forget(self, number: int) -> None:
        """Forget what was begun about a card that is no longer looked at."""
        self.pop(number, None)
        self.documents.forget(number)

    def with_extras(self, card: Card, decision: Decision) -> Decision:
        """Return a decision with the extras that the operator prepared for it."""
        begun = self.about(card)
        if begun.message and Beside.MESSAGE in card.choices.beside:
            decision = replace(decision, user_message=begun.message)
        return replace(decision, suppress_output=True) if begun.quiet else decision


class Marks(dict[int, Card]):
    """The marked cards, by number; those in `by_hand` were marked one at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.by_hand: set[int] = set()

    def cards(self) -> Sequence[Card]:
        """Return the marked cards by number, as they are now."""
        return [self[number] for number in sorted(self)]

    def turn(self, card: Card) -> None:
        """Mark a card by hand, or unmark it."""
        self.by_hand.discard(card.number)
        if self.pop(card.number, None) is None:
            self[card.number] = card
            self.by_hand.add(card.number)

    def copy(self) -> "Marks":
        """Return the marks of now, for `restore`."""
        marks = Marks()
        marks.update(self)
        marks.by_hand = set(self.by_hand)
        return marks

    def restore(self, before: "Marks", now: Callable[[int], Card | None]) -> None:
        """Mark again the cards that have not changed; `now` returns a card of now."""
        self.clear()
        self.update(before)
        self.by_hand = set(before.by_hand)
        for card in filter(None, map(now, before)):
            self.news(card)

    def news(self, card: Card) -> str:
        """Take in a changed card; say so if it loses its mark by being asked about again."""
        seen = self.pop(card.number, None)
        if seen is None or card.state is not State.WAITING:
            return ""
        if asked_again(seen, card):
            return f"#{card.number} was asked again and is no longer marked: there is more to see"
        self[card.number] = card
        return ""
