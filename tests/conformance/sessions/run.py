"""Runs sessions, at most three at a time, and compares what was seen with the record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tests.conformance.sessions.play import Outcome, play
from tests.conformance.sessions.record import Row, rows_of

if TYPE_CHECKING:
    from tests.conformance.sessions.cells import Session

AT_ONCE = 3
"""A session waits more than it works."""
LONGEST = "opencode"
"""The agent whose sessions take longest, since it begins slowly."""


async def run_all(
    wanted: Sequence[tuple[Session, str]], done: Callable[[Outcome], None]
) -> Sequence[Outcome]:
    """Run sessions, telling `done` of each; the longest begin first."""
    room = asyncio.Semaphore(AT_ONCE)

    async def in_turn(session: Session, edition: str) -> Outcome:
        async with room:
            outcome = await play(session, edition)
        done(outcome)
        return outcome

    longest_first = sorted(wanted, key=lambda pair: pair[0].agent != LONGEST)
    return await asyncio.gather(*(in_turn(*pair) for pair in longest_first))


def faults(outcome: Outcome, kept: Mapping[tuple[str, str, str], Row]) -> list[str]:
    """Return what of an outcome is not as the record has it, in words."""
    faults = [f"trouble: {outcome.trouble}"] if outcome.trouble else []
    for row in rows_of(outcome):
        before = kept.get(row.key)
        if before is None:
            faults.append(f"{row.cell}: not in the record; seen: {'; '.join(row.seen)}")
        elif before != row:
            faults.append(f"{row.cell}: {before.written} {before.seen} -> {row.written} {row.seen}")
    return faults
