"""`make cluster-failover`: how long nobody decides after a leader's end, round after round."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from tests.soak.cluster.clients import Hooks
from tests.soak.jobs import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.soak.cluster.site import ServerHere, Site
    from tests.soak.jobs import Job

ASK_EVERY = 0.05  # seconds between two hooks that are started, of each of both kinds
BEFORE = 1.0  # seconds of asking before the leader goes
READY = 2.0  # seconds for the other to be a standby
WITHIN = 40.0  # seconds for the other to decide
MOST = 30  # hooks of one kind under way at once
LIMITS = {"kill -9": 1.0, "cut": 6.0}
"""The ways in which a leader goes, and the seconds in which the other has to decide (the median)."""


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds from a leader's end to the other's first decision, and until a hook with the list had one."""

    how: str
    other: float
    listed: float


class Failover:
    """Ends the leader in turn; hooks that a rule decides ask the other, and both in their order."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._hooks = Hooks(site)
        self._jobs = _ruled()

    def close(self) -> None:
        """Have the hooks' machine end."""
        self._hooks.close()

    def rounds(self, many: int) -> Iterator[Round]:
        """End so many leaders in each of the ways."""
        for server in self._site.servers.values():
            server.start()
        for how in LIMITS:
            for _ in range(many):
                yield self._round(how)

    def _round(self, how: str) -> Round:
        leader = self._site.led()
        other = next(one for one in self._site.servers.values() if one is not leader)
        time.sleep(READY)
        self._ask(other, BEFORE, lambda: False)
        began = time.time()  # before, so that what ending it takes counts too
        self._end(leader, how)
        found: dict[bool, float] = {}

        def both() -> bool:
            for listed in (False, True):
                at = self._first_by(other, began, listed=listed)
                if at is not None:
                    found.setdefault(listed, at - began)
            return len(found) == 2

        self._ask(other, WITHIN, both)
        self._mend(leader, how)
        if len(found) < 2:
            raise AssertionError(f"{other.name} did not decide within {WITHIN:g} s after {how}")
        return Round(how, found[False], found[True])

    def _end(self, leader: ServerHere, how: str) -> None:
        if how == "cut":
            self._site.machines.plug(leader.name, in_=False)
        else:
            leader.kill()

    def _mend(self, leader: ServerHere, how: str) -> None:
        if how == "cut":
            self._site.machines.plug(leader.name, in_=True)
        leader.start()

    def _ask(self, other: ServerHere, seconds: float, over: Callable[[], bool]) -> None:
        """Start hooks of both kinds, until it is over or the time is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not over():
            if self._hooks.waiting < MOST:
                self._hooks.start(next(self._jobs), [other.name])
                self._hooks.start(next(self._jobs))
            time.sleep(ASK_EVERY)

    def _first_by(self, other: ServerHere, after: float, *, listed: bool) -> float | None:
        """Return when the first hook had its answer from the other; `listed`: of those with both."""
        address = self._site.machines.address[other.name]
        return min(
            (
                one.at
                for one in tuple(self._hooks.ended)
                if one.at > after
                and one.job.number % 2 == (0 if listed else 1)
                and any(who == address for who, _ in one.replies)
            ),
            default=None,
        )


def _ruled() -> Iterator[Job]:
    """Return jobs without end that a rule allows, numbered in turn: odd ones ask the other alone."""
    drawn = Source(random.Random("failover")).load(400, 1, patient=True)
    ruled = next(one for one in drawn if one.wish == "ruled-allow")
    number = 0
    while True:
        number += 1
        payload = ruled.payload.replace(b"/soak/%d" % ruled.number, b"/soak/%d" % number)
        yield replace(ruled, number=number, payload=payload, real=False, wait=WITHIN)


def table(rounds: list[Round]) -> str:
    """Return the figures as people read them."""
    lines = [
        f"{'the leader':<12}{'rounds':>7}{'median':>9}{'worst':>8}{'limit':>7}   with the list"
    ]
    for how, limit in LIMITS.items():
        found = [one for one in rounds if one.how == how]
        other, listed = ([getattr(one, name) for one in found] for name in ("other", "listed"))
        lines.append(
            f"{how:<12}{len(found):>7}{median(other):>7.2f} s{max(other):>6.2f} s{limit:>5.0f} s"
            f"{median(listed):>11.2f} s, worst {max(listed):.2f} s"
        )
    return "\n".join(lines)


def too_slow(rounds: list[Round]) -> list[str]:
    """Return the ways of which the median is over its limit, in words."""
    return [
        f"after {how} the other decides after {found:.2f} s, not within {limit:g} s"
        for how, limit in LIMITS.items()
        if (found := median(one.other for one in rounds if one.how == how)) > limit
    ]
