"""What is in view and since when, and which keys a hand presses. All times are in seconds."""

from collections.abc import Hashable, Mapping
from dataclasses import field
from enum import Enum, auto
from math import inf

from crabhook.datatypes import frozen
from crabhook.model.card import Card

DEAF_AFTER_ESCAPE = 0.1  # seconds in which letters belong to the escape before them
BURST = 0.02  # seconds; no hand presses two keys faster
QUIET_AFTER_BURST = 0.25  # seconds without a key after which a burst is over
REPEATS_WITHIN = 0.1  # seconds between two letters of a key that is held


_IN_TEXTS = frozenset({"space", "enter", "tab"})  # beside letters


class Stroke(Enum):
    """What a key is: pressed, repeated while it is held, of a pasted text, or of a sequence."""

    PRESSED = auto()
    REPEATED = auto()
    PASTED = auto()
    SEQUENCE = auto()


class Rhythm:
    """Tells keys that a hand presses from keys that come by themselves; times are in seconds.

    Unknown input (Alt with a letter, a stray report) comes as an escape and letters at once; so
    does pasted text that the terminal does not mark as pasted.
    """

    def __init__(self) -> None:
        self._last = ("", 0.0)
        self._escaped = self._text_at = -inf
        self._of_texts = Stroke.PRESSED

    def stroke(self, key: str, now: float) -> Stroke:
        """Return what the key is that comes at `now`."""
        (last, at), self._last = self._last, (key, now)
        repeated = key == last and now - at < REPEATS_WITHIN
        if key == "escape":
            self._escaped = now
        elif len(key) == 1 and now - self._escaped < DEAF_AFTER_ESCAPE:
            return Stroke.SEQUENCE
        if len(key) > 1 and key not in _IN_TEXTS:
            return Stroke.REPEATED if repeated else Stroke.PRESSED
        gap, self._text_at = now - self._text_at, now
        before = self._of_texts
        goes_on = before is Stroke.PASTED and gap < QUIET_AFTER_BURST
        if goes_on or (gap < BURST and before is not Stroke.REPEATED):
            self._of_texts = Stroke.PASTED
        else:
            self._of_texts = Stroke.REPEATED if repeated else Stroke.PRESSED
        return self._of_texts


@frozen
class Sight:
    """The view that keys act on (None: no card), and the `revisions` of the cards shown."""

    view: Hashable = None
    revisions: Mapping[int, int] = field(default_factory=dict)


def sight_of(card: Card) -> Hashable:
    """Return what tells a view of a card from that of any other: its number and its legs."""
    return card.number, tuple(leg.id for leg in card.requests)


class Arming:
    """Watches how long the same thing has been in view. Times are on the desk's clock.

    A key may decide a card only after this card, unchanged, was in view for a while. What was typed
    for one card must not reach another, and nobody has read what came a moment ago. A delay of 0
    switches this off.
    """

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self._sight: Hashable = None
        self._since: float | None = None

    def seen(self, sight: Hashable, now: float) -> None:
        """Take in what was just drawn; None for a view without a card."""
        if sight is None:
            self._since = None
        elif self._since is None or sight != self._sight:
            self._since = now
        self._sight = sight

    def restart(self, now: float) -> None:
        """Count from now on how long the present view is there."""
        if self._since is not None:
            self._since = now

    def armed(self, sight: Hashable, now: float, times: float = 1.0) -> bool:
        """Whether that has been in view long enough to be decided; `times` the delay."""
        in_view = sight is not None and sight == self._sight
        return in_view and self._since is not None and now >= self._since + self.delay * times

    @property
    def due(self) -> float | None:
        """The time when the view is armed; None while no card is in view."""
        return None if self._since is None else self._since + self.delay


NOTICE_KEPT = 1.0  # seconds a notice outlasts keys, so that it can be read


class Notice:
    """The sentence last said to the operator; it outlasts keys for a moment."""

    def __init__(self) -> None:
        self.text = ""
        self._since = 0.0

    def say(self, text: str, now: float) -> None:
        """Show a sentence; an empty sentence leaves the last in view."""
        if text:
            self.text, self._since = text, now

    def key(self, now: float) -> None:
        """Take in that a key was pressed."""
        if now - self._since >= NOTICE_KEPT:
            self.text = ""
