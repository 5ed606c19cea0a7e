"""Bounded growth: old records go, and a checkpoint keeps what is left verifiable.

The checkpoint is a record like any other, at the chain's end: it says with
which record the kept part begins and the hash that went before it.
"""

import sqlite3
from dataclasses import dataclass

from crabhook.store.record import Entry, Kind, iso

DAY = 86_400.0
_VACUUM_PAGES = 1000  # pages given back to the disk at a time


@dataclass(frozen=True, slots=True)
class Retention:
    """How long records are kept, in days, and how many bytes of them; the stricter counts."""

    days: float = 180.0
    size: int = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the kept part is to begin: `hash` is that of the last record removed."""

    begins: int
    hash: bytes
    removed: int
    since: str
    until: str
    why: str

    def entry(self, now: float) -> Entry:
        """Return the checkpoint."""
        return Entry(
            Kind.CHECKPOINT,
            now,
            body={
                "begins": self.begins,
                "hash": self.hash.hex(),
                "removed": self.removed,
                "from": self.since,
                "to": self.until,
                "why": self.why,
            },
        )


def next_cut(
    connection: sqlite3.Connection, retention: Retention, now: float, at_most: int
) -> Cut | None:
    """Return what is to go, at most so many records and never the last one; None if nothing is.

    Records go from the oldest on, so a younger one (by a clock that was
    wrong) keeps those after it.
    """
    oldest = connection.execute(
        "SELECT seq, at, hash FROM record ORDER BY seq LIMIT ?", (at_most + 1,)
    ).fetchall()
    before = iso(max(0.0, now - retention.days * DAY))
    aged = next((place for place, (_, at, _) in enumerate(oldest) if at >= before), len(oldest))
    large = used(connection) > retention.size
    count = min(at_most if large else aged, len(oldest) - 1)
    if count <= 0:
        return None
    first, last = oldest[0], oldest[count - 1]
    why = f"more than {retention.size} bytes" if large else f"older than {retention.days:g} days"
    return Cut(last[0] + 1, last[2], count, first[1], last[1], why)


def remove(connection: sqlite3.Connection, cut: Cut) -> None:
    """Remove the records before the cut; its checkpoint must have been written."""
    connection.execute("UPDATE counter SET value = ? WHERE name = 'begins'", (cut.begins,))
    connection.execute("DELETE FROM record WHERE seq < ?", (cut.begins,))


def give_back(connection: sqlite3.Connection) -> None:
    """Give some of the pages that are free to the disk again, when they are many."""
    free, pages = _pragma(connection, "freelist_count"), _pragma(connection, "page_count")
    if free > max(_VACUUM_PAGES, pages // 10):
        connection.execute(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})").fetchall()


def used(connection: sqlite3.Connection) -> int:
    """Return how many bytes of the database hold something."""
    pages = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    return pages * _pragma(connection, "page_size")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
