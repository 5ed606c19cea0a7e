"""How long things took, in buckets: as much of each time as is worth keeping of many."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate


class Spread:
    """Counts seconds by bounds, the smallest first; a time is within its bound if it is no longer.

    It may be added to in one thread at a time.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(map(float, bounds))
        self._counts = [0] * (len(bounds) + 1)  # the last: longer than all
        self.total = 0.0

    def __repr__(self) -> str:
        return f"<Spread of {sum(self._counts)}, {self.total:g} s>"

    def add(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, int]]:
        """Return how many were no longer than each bound, and how many there are."""
        names = [*map(str, self._bounds), "+Inf"]
        return list(zip(names, accumulate(self._counts), strict=True))
