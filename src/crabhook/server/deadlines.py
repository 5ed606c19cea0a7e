"""Until when a request may wait: as long as the server lets it, or as long as its hook does."""

from typing import NamedTuple


class Deadlines(NamedTuple):
    """On the broker's clock: when we answer at the latest, and when the hook gives up."""

    wait_until: float
    gives_up_at: float


def deadlines(now: float, wait: float, theirs: float = 0.0) -> Deadlines:
    """Return the deadlines of a request that may wait `wait` seconds here.

    `theirs` is how long its hook waits, 0 where it does not say; we answer a
    little before the hook gives up, so that it hears of it.
    """
    gives_up_at = now + (theirs - min(1.0, theirs / 10) if theirs else wait)
    return Deadlines(min(now + wait, gives_up_at), gives_up_at)
