"""How much of a card was shown: what nobody could read lets nothing happen.

The law of this file: a face tells for each block how many of its rows it has not shown yet. Before
an act that lets something happen, it asks here what is left to read. So a face that scrolls rows, a
face that prints them and a browser that watches what is in view have the same law.
"""

from collections.abc import Hashable, Iterable

from crabhook.datatypes import Bounded, frozen

_KEPT = 10_000  # cards
_MUCH = 1 << 30  # rows


@frozen
class BlockReading:
    """What a face has shown of a block.

    `unseen`: its rows that were not shown, as far as they were laid out. `whole`: they were laid
    out to the end.
    """

    unseen: int = 0
    whole: bool = True

    @property
    def left(self) -> int:
        """How many rows are left to read, as far as that is known; 0 only if it was read whole."""
        return self.unseen if self.whole else max(self.unseen, 1)


UNREAD = BlockReading(0, whole=False)


def left_to_read(readings: Iterable[BlockReading]) -> int:
    """Return how many rows must still be shown before an act that lets something happen."""
    return sum(reading.left for reading in readings)


class ReadingLog:
    """What a face has shown of each card; a request that was once read stays read.

    What the agent offers to allow from now on is apart: only a decision that keeps some of it needs
    that it was read. `offered` names it, since a later hook may bring other offers to a card.
    """

    def __init__(self) -> None:
        self._left: Bounded[int, tuple[int, int, Hashable]] = Bounded(_KEPT)

    def shown(
        self,
        number: int,
        request: Iterable[BlockReading],
        offers: Iterable[BlockReading],
        offered: Hashable = None,
    ) -> None:
        """Take in what was shown of a card's request, and of what its agent offers."""
        before, offers_before, named = self._left.get(number, (_MUCH, _MUCH, offered))
        if named != offered:
            offers_before = _MUCH
        now = min(before, left_to_read(request)), min(offers_before, left_to_read(offers))
        self._left[number] = *now, offered

    def left(self, number: int, *, keeps: bool, offered: Hashable = None) -> int:
        """Return how many rows of a card are left to read; `keeps`: with those of the offers."""
        request, offers, named = self._left.get(number, (UNREAD.left, 0, offered))
        if not keeps:
            return request
        return request + (offers if named == offered else UNREAD.left)
