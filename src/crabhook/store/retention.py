"""Bounded growth: old records go, and a checkpoint keeps what is left verifiable.

The checkpoint is a record like any other, at the chain's end: it says with
which record the kept part begins and the hash that went before it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from crabhook.store.record import Entry, Kind, iso

DAY = 86_400.0


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


def cuts_in(bodies: Iterable[str]) -> Iterator[Cut]:
    """Return what the bodies of checkpoints say was cut; one that was edited is left out."""
    for body in bodies:
        with suppress(ValueError, KeyError, TypeError):  # its own link tells
            yield cut_of(body)
