"""Which words were told lately: any program can have a server say the same again and again."""

from math import inf
from time import monotonic

from crabhook.datatypes import Bounded

EVERY = 60.0  # seconds until the same words are news again
_KEPT = 64


class Repeats:
    """Tells words that are news from those that were news lately."""

    def __init__(self) -> None:
        self._at: Bounded[str, float] = Bounded(_KEPT)

    def is_news(self, words: str) -> bool:
        """Whether nobody had these words lately; remember that somebody has them now."""
        now = monotonic()
        if now - self._at.get(words, -inf) < EVERY:
            return False
        self._at[words] = now
        return True
