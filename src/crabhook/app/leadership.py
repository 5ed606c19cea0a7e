"""A server among those that share its record: alone, as their leader, or standing by."""

from collections.abc import Callable, Mapping
from dataclasses import field
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from crabhook.app.status import Part
from crabhook.broker.messages import Refusal
from crabhook.datatypes import frozen
from crabhook.server.core.parts import Elsewhere
from crabhook.store.postgres.leader import Leader, Pace

if TYPE_CHECKING:
    from crabhook.server.metrics.collector import Said


@frozen
class Writing:
    """The leadership of a server that writes its record: alone, or as `leader` of several.

    `pace` is how it writes, always of now.
    """

    part: Part = Part.ALONE
    leader: Leader = field(default_factory=Leader)
    pace: Pace = field(default_factory=Pace)
    elsewhere: None = None

    @property
    def desks_at(self) -> str:
        """Where desks reach this server."""
        return self.leader.desks

    @property
    def page_at(self) -> str:
        """Where browsers reach this server."""
        return self.leader.page


class StandingBy:
    """The leadership of a server that stands by: what it knows of the leader and of the record."""

    part = Part.STANDBY

    def __init__(self, leader: Leader, now: Callable[[], float] = monotonic) -> None:
        self.leader, self.record_lost = leader, False
        self._now, self._seen_at = now, now()

    def __repr__(self) -> str:
        return f"<StandingBy {self.leader} record_lost={self.record_lost}>"

    def seen(self) -> None:
        """Note that all of the record is known here now."""
        self._seen_at = self._now()

    @property
    def elsewhere(self) -> Elsewhere:
        """The leader; no hook need look for another where the record is lost."""
        refusal = Refusal.UNRECORDED if self.record_lost else Refusal.ELSEWHERE
        return Elsewhere(refusal, self.leader.hooks, self.leader.desks)

    @property
    def desks_at(self) -> str:
        """Where desks reach the leader."""
        return self.leader.desks

    @property
    def page_at(self) -> str:
        """Where browsers reach the leader."""
        return self.leader.page

    @property
    def pace(self) -> Pace:
        """The lag: how long ago all of the record was known here."""
        return Pace(lag=max(0.0, self._now() - self._seen_at), epoch=self.leader.epoch)


Leadership: TypeAlias = Writing | StandingBy
"""Which server of those that share a record leads, as of now."""


def gauges(leadership: Leadership) -> "Mapping[str, Said]":
    """Return what metrics tell of it, each by its metric's name."""
    pace = leadership.pace
    return {
        "crabhook_part": [((part.value,), float(part is leadership.part)) for part in Part],
        "crabhook_epoch": pace.epoch,
        "crabhook_lag_seconds": pace.lag,
        "crabhook_commit_seconds": pace.commit,
        "crabhook_commit_batch": pace.batch,
        "crabhook_clock_skew_seconds": pace.skew,
    }
