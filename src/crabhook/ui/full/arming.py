"""When a key may decide a card: not before it has been in view for a while, as it is.

What was typed for one card must never reach another, and nobody can have
read what came into view a moment ago.
"""

from collections.abc import Hashable

from crabhook.broker.card import Card


class Arming:
    """Watches for how long the same thing has been in view.  Times are on the desk's clock."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._sight: Hashable = None
        self._since: float | None = None

    def __repr__(self) -> str:
        return f"<Arming {self._sight!r} since {self._since}>"

    def seen(self, sight: Hashable, now: float) -> None:
        """Take in what was just drawn; None for a view without a card."""
        if sight is None:
            self._since = None
        elif self._since is None or sight != self._sight:
            self._since = now
        self._sight = sight

    def armed(self, sight: Hashable, now: float) -> bool:
        """Whether that has been in view long enough to be decided."""
        due = self.due
        return sight is not None and sight == self._sight and due is not None and now >= due

    @property
    def due(self) -> float | None:
        """When what is in view is armed; None while no card is in view."""
        return None if self._since is None else self._since + self._delay


def sight_of(card: Card, *, reviewing: bool) -> Hashable:
    """Return what tells a view of a card from any other: its number, its legs, and which page."""
    return card.number, tuple(leg.id for leg in card.requests), reviewing


DEAF_AFTER_ESCAPE = 0.1  # seconds


class Escapes:
    """Tells letters typed from the rest of a sequence that began with an escape.

    A terminal sends what we do not know (Alt with a letter, a report nobody
    asked for) as an escape and letters at once; such a letter is no answer.
    """

    def __init__(self) -> None:
        self._last: float | None = None

    def swallow(self, key: str, now: float) -> bool:
        """Whether `key`, pressed at `now`, came too close behind an escape to be a letter typed."""
        if key == "escape":
            self._last = now
            return False
        return len(key) == 1 and self._last is not None and now - self._last < DEAF_AFTER_ESCAPE
