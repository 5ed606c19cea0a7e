"""How long a request may wait, on the broker's clock."""

from typing import NamedTuple


class Deadlines(NamedTuple):
    """On the broker's clock: when the server answers at the latest, and when the hook gives up."""

    wait_until: float
    gives_up_at: float


LONGEST_WAIT = 1e9  # seconds, some 30 years


def deadlines(now: float, wait: float, theirs: float = 0.0) -> Deadlines:
    """Return the deadlines of a request that may wait `wait` seconds here.

    `theirs` is how long its hook waits, 0 if unknown; the server answers a little before that, so
    that the hook receives the answer. A hook may say any number: beyond LONGEST_WAIT a record could
    not date it, and desks elsewhere could not read its card, nor any other.
    """
    theirs = min(theirs, LONGEST_WAIT) if theirs > 0 else 0.0  # 0 for nan
    gives_up_at = now + (theirs - min(1.0, theirs / 10) if theirs else wait)
    return Deadlines(min(now + wait, gives_up_at), gives_up_at)
