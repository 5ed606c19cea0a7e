"""The desks attached to this server, here or elsewhere: their claims and their commands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import TypeAlias

from crabhook.datatypes import Bounded
from crabhook.desk.commands import Outcome
from crabhook.desk.updates import AttachedDesk, Claimed, Holding
from crabhook.model.actor import Actor
from crabhook.model.decision import Verdict


class Attendance:
    """Knows the attached desks; `changed` is called when a desk comes or goes.

    `desks` counts the desks of operators with the right to decide.
    """

    def __init__(self) -> None:
        self.desks = 0
        self.changed: Callable[[], object] = lambda: None
        self._attached: dict[int, AttachedDesk] = {}
        self._numbers = count()
        self._left_at = monotonic()

    def __repr__(self) -> str:
        return f"<Attendance desks={self.desks} attached={len(self._attached)}>"

    @contextmanager
    def attending(self, desk: AttachedDesk, *, decides: bool = True) -> Iterator[None]:
        """Count a desk while the context lasts."""
        number = next(self._numbers)
        self._attached[number] = desk
        self._count(1 if decides else 0)
        try:
            yield
        finally:
            del self._attached[number]
            self._count(-1 if decides else 0)

    def _count(self, more: int) -> None:
        self.desks += more
        if more:
            self._left_at = monotonic()
            self.changed()

    def attached(self) -> tuple[AttachedDesk, ...]:
        """Return the attached desks, the first to come first."""
        return tuple(self._attached.values())

    @property
    def alone_since(self) -> float | None:
        """When the last desk left, in monotonic seconds; None while a desk is attached."""
        return None if self.desks else self._left_at


CLAIMED_FOR = 60.0  # seconds, unless the desk repeats it


HELD_FOR = 60.0  # seconds at most that an answer is taken to be held
ON_ITS_WAY = 2.0  # seconds that a held answer may need from its desk to us once it is due


class Claims:
    """Which card each operator looks at, and which answers desks hold.

    `publish` receives the changes.
    """

    def __init__(self, publish: Callable[[Claimed], object]) -> None:
        self._publish = publish
        self._of: dict[Actor, tuple[int, float]] = {}
        self._holding: dict[tuple[int, Actor], Holding] = {}

    def __repr__(self) -> str:
        return f"<Claims {len(self._of)} holding={len(self._holding)}>"

    def take(self, by: Actor, card: int, now: float) -> None:
        """Note that an operator looks at this card only; 0 for none."""
        before, _ = self._of.pop(by, (0, 0.0))
        if card:
            self._of[by] = card, now + CLAIMED_FOR
        if before != card:
            for number in filter(None, (before, card)):
                self._publish(self._claimed(number))

    def hold(self, by: Actor, card: int, verdict: Verdict, due: float, now: float) -> None:
        """Note that an operator's desk holds an answer to a card, which it sends at `due`."""
        self._holding[card, by] = Holding(by, verdict, min(due, now + HELD_FOR))
        self._publish(self._claimed(card))

    def let_go(self, by: Actor, card: int) -> None:
        """Note that an operator's desk holds no answer to a card any more."""
        if self._holding.pop((card, by), None) is not None:
            self._publish(self._claimed(card))

    def held(self, now: float) -> frozenset[int]:
        """Return the cards with an answer that a desk holds, or has just sent."""
        return frozenset(
            card for (card, _), answer in self._holding.items() if answer.due + ON_ITS_WAY > now
        )

    def expire(self, now: float) -> None:
        """End the claims that no desk repeated in time, and forget answers that were due."""
        for by in [by for by, (_, until) in self._of.items() if until <= now]:
            self.take(by, 0, now)
        over = [key for key, answer in self._holding.items() if answer.due + ON_ITS_WAY <= now]
        for card, by in over:
            self.let_go(by, card)

    def published(self) -> tuple[Claimed, ...]:
        """Return the claimed cards, each with its operators and the answers that are held."""
        cards = [card for card, _ in self._of.values()] + [card for card, _ in self._holding]
        return tuple(map(self._claimed, dict.fromkeys(cards)))

    def _claimed(self, card: int) -> Claimed:
        by = tuple(by for by, (number, _) in self._of.items() if number == card)
        held = tuple(answer for (number, _), answer in self._holding.items() if number == card)
        return Claimed(card, by, held)


OUTCOMES_KEPT = 1024  # of commands; enough for any desk that lost its connection

Settle: TypeAlias = Callable[[Outcome], None]


@dataclass(slots=True)
class Submitted:
    """A submitted command: its content, to compare, and its outcome, once known."""

    content: object
    outcome: Outcome | None = None
    asked_by: list[Settle] = field(default_factory=list)


Submissions: TypeAlias = Bounded[tuple[Actor, str], Submitted]
"""The commands, by operator and by id."""
