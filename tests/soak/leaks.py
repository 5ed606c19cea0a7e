"""What a server holds after each of its loads, when nobody asks any more; and what is too much.

After the first load it is warm: modules are imported, pools are made, SQLite has its pages, and all
that a server remembers up to a number is full, since that number is made small in this life
(`watched.MEMORIES`). The second and the third are of one size. All it holds has to be what it was:
the bounds are for allocators and executors, not for anything that a job might leave behind. Which
cards a full memory holds differs from load to load, and so does their size. So what each job leaves
is what it leaves in every load.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Held = dict[str, int]

EMPTY = ("waiting", "stayed open", "pending", "receipts")
"""What has to be none when nobody asks."""

MAY_GROW = {
    "descriptors": 2,
    "tasks": 1,
    "threads": 4,
}
"""By how much each may differ between two loads: SQLite opens and closes a file of its log, the loop's
executor has threads up to a bound, and a task may be about to end."""

BYTES_A_JOB = 8_000
OBJECTS_A_JOB = 2
"""How much more each job may leave, in the load that leaves the least; see docs/maintaining/reports.md for what was measured.
Objects are counted exactly, so one kept for each job is found; resident memory is the allocator's too."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was held after a load, and how many jobs had been in it."""

    jobs: int
    held: Mapping[str, int]


def settled(held: Mapping[str, int]) -> bool:
    """Say whether nobody is asked about any more."""
    return not any(held[name] for name in EMPTY)


def grown(loads: Sequence[Measured]) -> tuple[float, float]:
    """Return the bytes and the objects that each job has left, in the load that left the least."""
    return _left("resident", loads), _left("objects", loads)


def _left(name: str, loads: Sequence[Measured]) -> float:
    return min(
        (after.held[name] - before.held[name]) / after.jobs for before, after in pairwise(loads)
    )


def leaks(loads: Sequence[Measured]) -> Iterator[str]:
    """Yield what grew that must not, in words."""
    for number, load in enumerate(loads, 1):
        yield from (
            f"after load {number}: {load.held[name]} {name}" for name in EMPTY if load.held[name]
        )
    before, after = loads[-2:]
    for name, most in MAY_GROW.items():
        if after.held[name] - before.held[name] > most:
            yield f"{name}: {before.held[name]} before the last load, {after.held[name]} after it"
    octets, objects = grown(loads)
    if octets > BYTES_A_JOB:
        yield f"each job left {octets:.0f} bytes, not {BYTES_A_JOB} at most"
    if objects > OBJECTS_A_JOB:
        yield f"each job left {objects:.0f} objects, not {OBJECTS_A_JOB} at most"
