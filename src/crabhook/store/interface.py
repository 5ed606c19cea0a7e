"""What the server needs of a store."""

from collections.abc import Sequence
from typing import Protocol

from crabhook.store.change import Change, Recovered
from crabhook.store.record import Head


class Store(Protocol):
    """A record that only grows, and beside it what has to survive a kill.

    Every method raises a StoreError; then nothing of what it was asked has
    been written, and it may be asked again.
    """

    @property
    def head(self) -> Head:
        """The last record's number and hash."""

    def write(self, changes: Sequence[Change]) -> Head:
        """Write all of them in one transaction, in order; return the new head.

        Once this has returned a kill of the process loses none of it.
        Raises TicketError when an id comes with another secret.
        """

    def is_anothers(self, request_id: str, secret: str) -> bool:
        """Whether a request's id is known by another secret."""

    def recover(self, now: float) -> Recovered:
        """Return what was waiting, just answered, or owed; `now` is wall seconds."""

    def forget_answers(self, before: float) -> int:
        """Forget answers decided before this wall time that are not owed; return how many."""

    def anchor(self) -> Head:
        """Make all that is recorded safe from a power cut, then keep the head apart from it."""

    def prune(self, now: float, *, at_most: int = 1000) -> int:
        """Remove records past their age or the size allowed, the oldest first; return how many."""

    def close(self) -> None:
        """Anchor and let go; to close twice does nothing."""
