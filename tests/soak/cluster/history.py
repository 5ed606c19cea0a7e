"""What the clients of a cluster saw, each by itself, and the record they are held against."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crabhook.store.opening import open_history
from crabhook.store.postgres.connection import connect
from crabhook.store.record import GENESIS
from crabhook.store.verify import verify
from tests.support.ledger import Ledger, miscounted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tests.soak.jobs import Job
    from tests.soak.said import Printed

_COMMITTED = """
SELECT seq, extract(epoch FROM pg_xact_commit_timestamp(xmin))::double precision AS at
FROM crabhook.record
"""


@dataclass(frozen=True, slots=True)
class HookEnd:
    """How a run of a hook went.

    `began` and `ended` are monotonic, as the soak started and heard of it; `at` is the wall clock
    just before it printed. `replies` are all that it was given under its ticket: who gave each, and what.
    """

    job: Job
    began: float
    ended: float
    at: float
    printed: Printed
    replies: Sequence[tuple[str, str]] = ()


@dataclass(slots=True)
class Given:
    """A decision as a person gave it at a desk, and what they heard became of it."""

    by: str
    server: str
    card: int
    job: int | None
    verdict: str
    at: float
    outcome: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """A piece of news as a watcher at a server heard it, in its so manieth watch of it.

    `part` is what a hello says the server is: leader, standby.
    """

    server: str
    stream: int
    news: str
    seq: int = 0
    card: int = 0
    state: str = ""
    resumed: bool = False
    part: str = ""


@dataclass(frozen=True, slots=True)
class Straggler:
    """A hook that waited ten seconds after the last fault: who has its request, if anybody took it."""

    job: int
    at: str
    taken: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault of the nemesis: from when to when, monotonic."""

    what: str
    began: float
    ended: float


class SharedLedger(Ledger):
    """The record in PostgreSQL, read once."""

    def __init__(self, url: str) -> None:
        with open_history(url) as history:
            kept = history.kept_head() or GENESIS
            self.records = list(history.find())
            self.verified = verify(history, [kept] if kept != GENESIS else [])
        rows = asyncio.run(_rows(url, "SELECT request_id, card FROM waiting"))
        self.waiting = [tuple(row) for row in rows]
        kept_rows = asyncio.run(_rows(url, "SELECT session FROM halt"))
        self.miscounted = miscounted(self.waiting, [tuple(row) for row in kept_rows])


def committed_at(url: str) -> dict[int, float]:
    """Return when each record was committed, by the clock that the soak's own machine has."""
    return {row["seq"]: row["at"] for row in asyncio.run(_rows(url, _COMMITTED))}


async def _rows(url: str, query: str) -> list[Any]:
    connection = await connect(url)
    try:
        found: list[Any] = await connection.fetch(query)
        return found
    finally:
        await connection.close()


@dataclass
class Histories:
    """All that there is to judge.

    `committed` is when each record was, by the clock of the database's machine, which hooks and
    desks share. `asked` are the numbers of the jobs whose hooks were started. `tail` is what a
    reader of the record saw come, by number and hash. `leader` is the address of who led when the
    stragglers were looked for.
    """

    ledger: Ledger
    committed: Mapping[int, float]
    hooks: Sequence[HookEnd] = ()
    asked: Collection[int] = ()
    given: Mapping[str, Given] = field(default_factory=dict)
    heard: Sequence[Heard] = ()
    tail: Sequence[tuple[int, str]] = ()
    stragglers: Sequence[Straggler] = ()
    leader: str = ""
    troubles: Sequence[Trouble] = ()
