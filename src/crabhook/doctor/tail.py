"""The end of a long record, as a record of its own: it follows the hash before its first."""

from collections.abc import Iterator
from pathlib import Path

from crabhook.store.query import Query
from crabhook.store.reader import Reader
from crabhook.store.record import Record


class Tail(Reader):
    """A view of the last so many records, which `verify` reads like a whole.

    Where there is at most one more than that it is the whole.
    """

    def __init__(self, path: Path, last: int) -> None:
        super().__init__(path)
        self._last = last
        first, before = next(super().records(), None), next(self.find(Query(last=last + 1)), None)
        self._before = before if first and before and first.seq < before.seq else None

    def records(self) -> Iterator[Record]:
        """Return the last records, in order."""
        return super().records() if self._before is None else self.find(Query(last=self._last))

    def checkpoints(self) -> dict[int, bytes]:
        """Return the hash that the first of them follows, beside those of the cuts."""
        before = self._before
        return super().checkpoints() | ({before.seq + 1: before.hash} if before else {})
