"""Runs cells, at most two at a time, and says which facts were seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.conformance.scene import play

if TYPE_CHECKING:
    from tests.conformance.cell import Cell, Fact
    from tests.conformance.outcome import Outcome

AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Result:
    """A cell that was run, and for each of its facts whether it was seen."""

    cell: Cell
    outcome: Outcome
    seen: Sequence[bool]

    @property
    def sound(self) -> bool:
        """Whether all is as the cell says."""
        return all(self.seen) and not self.outcome.trouble


async def run(cell: Cell) -> Result:
    """Run one cell."""
    outcome = await play(cell)
    return Result(cell, outcome, [_holds(fact, outcome) for fact in cell.facts])


def _holds(fact: Fact, outcome: Outcome) -> bool:
    try:
        return fact.holds(outcome)
    except (LookupError, ValueError):
        return False  # what the fact is about never came


async def run_all(cells: Sequence[Cell], done: Callable[[Result], None]) -> Sequence[Result]:
    """Run cells, telling `done` of each; the results come in the cells' own order."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(cell: Cell) -> Result:
        async with room:
            result = await run(cell)
        done(result)
        return result

    return await asyncio.gather(*map(one, cells))
