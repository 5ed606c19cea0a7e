"""Whether anybody is at a desk of this server, on this machine or another."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic


class Attendance:
    """Counts the desks that are attached; `changed` is called after each that comes or goes."""

    def __init__(self) -> None:
        self.desks = 0
        self.changed: Callable[[], object] = lambda: None
        self._left_at = monotonic()

    def __repr__(self) -> str:
        return f"<Attendance desks={self.desks}>"

    @contextmanager
    def attending(self) -> Iterator[None]:
        """Count a desk for as long as the context lasts."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        self.desks += more
        self._left_at = monotonic()
        self.changed()

    @property
    def alone_since(self) -> float | None:
        """Since when nobody is at a desk, in monotonic seconds; None while somebody is."""
        return None if self.desks else self._left_at
