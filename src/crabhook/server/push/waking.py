"""Decides whom to call for which card: pure, from facts and a time.

A person is called for a card that has waited for a while. They must be allowed to decide it, and
look at no page and no terminal. They are called once for a card, and once more after each "later".
Calls keep a distance: what becomes due meanwhile is part of the next call.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from crabhook.desk.updates import News, Snapshot
from crabhook.model.actor import Operator
from crabhook.model.card import Card, State

APART = 15.0  # seconds at least between two calls of one person
LATER = 600.0  # seconds until who chose "later" is called again

MayDecide: TypeAlias = Callable[[str, Card], bool]
"""Whether a person, by id, may decide a card."""


@dataclass(slots=True)
class _Person:
    """What is kept of one person: for which waiting cards they were called, and when."""

    called_for: set[int] = field(default_factory=set)
    seen_at: float = -APART
    called_at: float = -APART
    rests_until: float = 0.0


class Waking:
    """Knows what waits, and who was called for it. Times are on the runner's clock.

    `after`: how many seconds a card must have waited, and its person must have looked at nothing.
    """

    def __init__(self, after: float) -> None:
        self._after = after
        self._waiting: dict[int, Card] = {}
        self._people: dict[str, _Person] = {}
        self._acted: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<Waking {len(self._waiting)} cards, {len(self._people)} people>"

    @property
    def anything_waits(self) -> bool:
        """Whether any card waits."""
        return bool(self._waiting)

    def hear(self, news: News) -> None:
        """Take a fact: all there is, or a card as it is now."""
        match news:
            case Snapshot(waiting=waiting, ended=ended):
                self._waiting = {card.number: card for card in waiting}
                for card in ended:
                    self._note_who_decided(card)
            case Card(state=State.WAITING):
                self._waiting[news.number] = news
            case Card():
                self._waiting.pop(news.number, None)
                self._note_who_decided(news)
            case _:
                return
        for person in self._people.values():
            person.called_for &= self._waiting.keys()

    def _note_who_decided(self, card: Card) -> None:
        if card.decided and isinstance(by := card.decided.by, Operator):
            self._acted[by.id] = max(self._acted.get(by.id, 0.0), card.ended_at)

    def acted_at(self, person: str) -> float:
        """Return when a person last decided a card; 0 if that is unknown."""
        return self._acted.get(person, 0.0)

    def look(
        self, now: float, people: Iterable[str], visible: Callable[[str], bool], may: MayDecide
    ) -> list[str]:
        """Return the people to call now; each counts as called for all that waits for them.

        `visible`: whether a person looks at a page or a terminal.
        """
        return [person for person in people if self._calls(person, now, visible(person), may)]

    def _calls(self, name: str, now: float, visible: bool, may: MayDecide) -> bool:  # noqa: FBT001 - a fact
        person = self._people.setdefault(name, _Person())
        if visible:
            person.seen_at = now
            return False
        if now < max(person.seen_at + self._after, person.called_at + APART, person.rests_until):
            return False
        waiting = [card for card in self._waiting.values() if self._is_due(card, now)]
        due = {card.number for card in waiting if may(name, card)}
        if due <= person.called_for:
            return False
        person.called_for |= due
        person.called_at = now
        return True

    def _is_due(self, card: Card, now: float) -> bool:
        return now >= max(card.asked_at + self._after, card.snoozed_until) and now < card.wait_until

    def called_for(self, person: str) -> tuple[Card, ...]:
        """Return the waiting cards that a person was called for, the first to come first."""
        numbers = self._people[person].called_for if person in self._people else ()
        return tuple(card for number, card in self._waiting.items() if number in numbers)

    def later(self, person: str, now: float) -> None:
        """Call a person again for what waits then, but not for a while."""
        self._people[person] = _Person(rests_until=now + LATER)
