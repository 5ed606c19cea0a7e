"""The leader of those that share a record: who it is, and how it writes."""

from dataclasses import dataclass

from crabhook.datatypes import frozen
from crabhook.store.interface import TakenError


@frozen
class Leader:
    """The writer of a shared record: its name in words, and its `epoch`.

    `hooks` and `desks` are its addresses, HOST:PORT, and `page` is the URL of its page. Each is
    empty if unknown.
    """

    name: str = ""
    hooks: str = ""
    desks: str = ""
    epoch: int = 0
    page: str = ""


@dataclass(slots=True)
class Pace:
    """How a record is written, or followed, here; varying values are recent means.

    `commit`: seconds of one commit of `batch` batches. `lag`: seconds since a follower last knew
    all of it. `skew`: seconds by which this machine's clock is ahead of the database's. `epoch` is
    the leader's.
    """

    commit: float = 0.0
    batch: float = 0.0
    lag: float = 0.0
    skew: float = 0.0
    epoch: int = 0

    def count(self, seconds: float, batches: int) -> None:
        """Count a commit."""
        self.commit += (seconds - self.commit) / 8 if self.commit else seconds
        self.batch += (batches - self.batch) / 8 if self.batch else batches


SKEWED = 5.0  # seconds that two clocks may differ


def skewed(pace: Pace) -> str:
    """Return a warning where this machine's clock differs too much from the database's, or ""."""
    if abs(pace.skew) <= SKEWED:
        return ""
    way = "ahead of" if pace.skew > 0 else "behind"
    return (
        f"this machine's clock is {abs(pace.skew):.0f} s {way} the database's: the record's times "
        "go by it, and what waits where the leader changes"
    )


class AnotherLeadsError(TakenError):
    """Another server, `leader`, leads those that share this record."""

    def __init__(self, words: str, leader: Leader) -> None:
        super().__init__(words)
        self.leader = leader
