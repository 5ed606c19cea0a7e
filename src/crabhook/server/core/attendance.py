"""The desks attached to this server, here or elsewhere: their claims and their commands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import TypeAlias

from crabhook.datatypes import Bounded
from crabhook.desk.commands import Outcome
from crabhook.desk.updates import AttachedDesk, Claimed
from crabhook.model.actor import Actor


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


class Claims:
    """Which card each operator looks at; `publish` receives the changes."""

    def __init__(self, publish: Callable[[Claimed], object]) -> None:
        self._publish = publish
        self._of: dict[Actor, tuple[int, float]] = {}

    def __repr__(self) -> str:
        return f"<Claims {len(self._of)}>"

    def take(self, by: Actor, card: int, now: float) -> None:
        """Note that an operator looks at this card only; 0 for none."""
        before, _ = self._of.pop(by, (0, 0.0))
        if card:
            self._of[by] = card, now + CLAIMED_FOR
        if before != card:
            for one in filter(None, (before, card)):
                self._publish(self._claimed(one))

    def expire(self, now: float) -> None:
        """End the claims that no desk repeated in time."""
        for by in [by for by, (_, until) in self._of.items() if until <= now]:
            self.take(by, 0, now)

    def published(self) -> tuple[Claimed, ...]:
        """Return the claimed cards, each with the operators that look at it."""
        return tuple(map(self._claimed, dict.fromkeys(card for card, _ in self._of.values())))

    def _claimed(self, card: int) -> Claimed:
        return Claimed(card, tuple(by for by, (number, _) in self._of.items() if number == card))


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
