"""Cards marked to be decided together.

The law of this file: a mark is on a card as it was seen.  A card that ends or
is asked about once more loses its mark, so that nothing is decided that has
changed since.
"""

from collections.abc import Iterable, Sequence

from crabhook.broker.card import Card
from crabhook.broker.states import State
from crabhook.model.decision import Verdict
from crabhook.ui.summary import is_plan, is_question
from crabhook.ui.target import alike

_OWN_ANSWERS = "it asks you something: decide it by itself"


class Marks:
    """The cards marked, in the order they were."""

    def __init__(self) -> None:
        self._cards: dict[int, Card] = {}

    def __repr__(self) -> str:
        return f"<Marks {sorted(self._cards)}>"

    def __len__(self) -> int:
        return len(self._cards)

    def __contains__(self, number: int) -> bool:
        return number in self._cards

    def cards(self) -> Sequence[Card]:
        """Return the marked cards by number, as they are now."""
        return [self._cards[number] for number in sorted(self._cards)]

    def turn(self, card: Card) -> None:
        """Mark a card, or unmark it."""
        if self._cards.pop(card.number, None) is None:
            self._cards[card.number] = card

    def add(self, cards: Iterable[Card]) -> None:
        """Mark cards."""
        self._cards |= {card.number: card for card in cards}

    def clear(self) -> None:
        """Unmark all."""
        self._cards.clear()

    def news(self, card: Card) -> str:
        """Take in a changed card; say so if it loses its mark by being asked about again."""
        seen = self._cards.get(card.number)
        if seen is None:
            return ""
        if card.state is not State.WAITING:
            del self._cards[card.number]
            return ""
        known = {leg.id for leg in seen.requests}
        if any(leg.id not in known for leg in card.requests):
            del self._cards[card.number]
            return f"#{card.number} was asked again and is no longer marked: there is more to see"
        self._cards[card.number] = card
        return ""


def alike_or_session(card: Card, waiting: Sequence[Card], marks: Marks) -> tuple[str, list[Card]]:
    """Return what to mark beside a card, and what they have in common.

    First all that ask the very same; when those are marked, all of its session.
    """
    same = [card, *alike(card, waiting)]
    if any(one.number not in marks for one in same) and len(same) > 1:
        return "that ask the very same", same
    session = [one for one in waiting if one.event.session == card.event.session]
    return "of this session", session


def refusal(card: Card, verdict: Verdict) -> str:
    """Return why a card cannot be decided so together with others; empty if it can."""
    if verdict not in card.choices.verdicts:
        return f"its event cannot be told {verdict}"
    asks = is_question(card.event) or is_plan(card.event)
    return _OWN_ANSWERS if verdict is Verdict.ALLOW and asks else ""
