"""Bounded growth: old records go, and a checkpoint keeps what is left verifiable.

The checkpoint is a record like any other, at the chain's end: it says with
which record the kept part begins and the hash that went before it.
"""

import json
import re
import sqlite3
from dataclasses import dataclass
from datetime import datetime

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
    """Where the kept part is to begin: `hash` is that of the last record removed.

    `since` and `until` are the times of the first and the last one removed;
    `latest` is the latest time of all of them, since a clock may be set back.
    """

    begins: int
    hash: bytes
    removed: int
    since: str
    until: str
    why: str
    latest: str

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
                "latest": self.latest,
                "why": self.why,
            },
        )

    def untrue(self, at: str) -> str:
        """Return why retention cannot have made this cut at the time of its checkpoint, if so."""
        if not 0 < self.removed < self.begins:
            return f"{self.removed} records cannot have gone before record {self.begins}"
        if not (age := _AGE.fullmatch(self.why)):
            return ""
        days = float(age[1])
        slack = 60 + days * DAY * 1e-5  # the text has six digits of the days
        moment = datetime.fromisoformat(at).timestamp() - days * DAY + slack
        if self.latest > iso(max(0.0, moment)):
            return f"it says {self.why}, and removed a record of {self.latest} at {at}"
        return ""


_AGE = re.compile(r"older than ([0-9.e+]{1,20}) days")


def cut_of(body: str) -> Cut:
    """Return what a checkpoint's body says was cut; raises ValueError, KeyError or TypeError."""
    told = json.loads(body)
    until = str(told["to"])
    return Cut(
        int(told["begins"]),
        bytes.fromhex(told["hash"]),
        int(told["removed"]),
        str(told["from"]),
        until,
        str(told["why"]),
        str(told.get("latest", until)),  # older checkpoints do not say
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
    latest = max(str(at) for _, at, _ in oldest[:count])
    return Cut(last[0] + 1, last[2], count, first[1], last[1], why, latest)


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
