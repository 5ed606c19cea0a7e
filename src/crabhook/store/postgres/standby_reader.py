"""A shared record as a standby follows it, while another server writes.

A commit rings a bell (NOTIFY), and the head is read each second anyway. A bell lost in a pooler or
connection costs only a second.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING

from crabhook.datatypes import frozen
from crabhook.store.change import Halt, Waiting
from crabhook.store.interface import CorruptError, StoreError
from crabhook.store.postgres.connection import (
    ANSWER_WITHIN,
    ConnectionThread,
    connect,
    shown,
    speaking_of,
)
from crabhook.store.postgres.journal import head_path, put_back
from crabhook.store.postgres.leader import Leader
from crabhook.store.postgres.tables import BELL, STEPS, marked, unmarked, version_of
from crabhook.store.record import COLUMNS, GENESIS, ORDERS, Head, Record, RecordKind
from crabhook.store.sql import WAITING, waiting_in
from crabhook.store.sqlite.files import HeadFile, private

if TYPE_CHECKING:
    from crabhook.store.postgres.connection import Connection

_LOG = logging.getLogger(__name__)

ENDS = (RecordKind.DECIDED.value, RecordKind.WITHDRAWN.value, RecordKind.EXPIRED.value)
TOLD = (RecordKind.ASKED.value, RecordKind.LEFT.value, *ENDS)
MOST = 2048  # records per look; a standby further behind starts anew, as desks keep so much news
PROBE_WITHIN = 2.0  # seconds for our own test notification
KEPT_EVERY = 1.0  # seconds at least between two heads that are kept

_HEAD = "SELECT begins, seq, hash, at, leader, leader_at, desks_at, epoch, page_at FROM head"
_IDS = "SELECT request_id, card FROM waiting"
_COLUMNS = ", ".join(f'"{column}"' for column in WAITING)
_NEW = f"SELECT {_COLUMNS} FROM waiting WHERE request_id = ANY($1) ORDER BY card, asked, request_id"  # noqa: S608 - constants
_TOLD = f"""
SELECT {", ".join(COLUMNS)} FROM record
WHERE seq > $1 AND card IS NOT NULL AND kind = ANY($2) ORDER BY seq
"""  # noqa: S608 - constants
_HALTS = "SELECT session, why FROM halt ORDER BY session"
_ORDERS = "SELECT text FROM document WHERE name = $1"
_ENDED = f"""
SELECT {", ".join(COLUMNS)} FROM record
WHERE card = ANY($1) AND kind = ANY($2) ORDER BY seq
"""  # noqa: S608 - constants


@frozen
class LeaderChanges:
    """The changes since the last look: the leader, and the last record read.

    `records` are the records about cards since then, in order. `new` are the waiting requests that
    are new, `gone` the ids and cards of those that no longer wait. `anew`: the records between are
    unknown, and `records` has only the ends of cards in `gone`.

    `halts` are the rows of stops and notes, None where nothing was written since; `orders` is the
    document of standing orders.
    """

    leader: Leader
    seq: int
    new: Sequence[Waiting] = ()
    gone: Mapping[str, int] = field(default_factory=dict)
    records: Sequence[Record] = ()
    anew: bool = False
    halts: Sequence[Halt] | None = None
    orders: str = ""


class StandbyReader:
    """The record at `url`, read again and again by one thread at a time.

    The head that was read is kept in this machine's folder `beside`, so that this server leads over
    no older backup. `deaf` says in words why the bell does not ring here; `older`, that the record
    is older than the kept head: this server would refuse to lead.
    """

    def __init__(self, url: str, beside: Path | None = None) -> None:
        self._thread, self._beside = ConnectionThread(url), beside
        self._connection: Connection | None = None
        self._rung: asyncio.Event | None = None
        self._known: dict[str, int] = {}  # waiting requests, with their cards
        self._seq: int | None = None
        self._kept: Head | None = None  # as compared on this connection
        self._keep_at = 0.0  # monotonic seconds: when a newer head is compared and kept
        self.deaf = self.older = ""

    def __repr__(self) -> str:
        return f"<StandbyReader of {shown(self._thread.url)} at {self._seq}>"

    def look(self, within: float) -> LeaderChanges | None:
        """Wait for the bell, at most `within` seconds; return the changes, None for none.

        The first look does not wait, and returns all that waits. Raises StoreError.
        """
        return self._thread.wait(self._look(within))

    def close(self) -> None:
        """Close the connection."""
        with suppress(StoreError):
            self._thread.wait(self._end(), ANSWER_WITHIN)
        self._thread.close()

    async def _end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:  # it may be in use: the looking thread learns of the loss
            connection.terminate()

    async def _look(self, within: float) -> LeaderChanges | None:
        if self._connection is None:
            self._connection = await self._begun()
        elif self._rung is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self._rung.wait()
            self._rung.clear()
        try:
            with speaking_of(self._thread.url):
                return await self._changes(self._connection)
        except StoreError:
            self._connection.terminate()
            self._connection = None
            raise

    async def _begun(self) -> "Connection":
        connection = await connect(self._thread.url)
        try:
            with speaking_of(self._thread.url):
                self.deaf = await self._listen(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _listen(self, connection: "Connection") -> str:
        """Listen to the bell from now on; return in words why not."""
        self._rung, probe, self._kept = asyncio.Event(), token_hex(8), None
        heard, rung = asyncio.Event(), self._rung

        def ring(_: object, __: int, ___: str, payload: object) -> None:
            rung.set()
            if payload == probe:
                heard.set()

        await connection.add_listener(BELL, ring)
        await connection.execute("SELECT pg_notify($1, $2)", BELL, probe)
        try:
            async with asyncio.timeout(PROBE_WITHIN):
                await heard.wait()
        except TimeoutError:
            return (
                f"{shown(self._thread.url)} passes no notifications on, as a pooler does: what "
                "changes is seen each second. Give the address of PostgreSQL itself"
            )
        return ""

    async def _keep(self, connection: "Connection", head: Head) -> None:
        """Keep the head that was read, unless the record is older than the head kept before."""
        if self._beside is None or monotonic() < self._keep_at:
            return
        if head == self._kept and not self.older:
            return
        path = head_path(self._beside, await connection.fetchval("SELECT id FROM head"))
        try:
            private(self._beside)
            kept = HeadFile(path).read()
            self.older = await put_back(connection, self._thread.url, path, kept) if kept else ""
            if not self.older and head not in (kept, GENESIS):
                HeadFile(path).keep(head)
        except CorruptError as error:
            self.older = str(error)
        except StoreError as error:
            _LOG.warning("the head of the record was not kept: %s", error)
        self._kept, self._keep_at = head, monotonic() + KEPT_EVERY

    async def _changes(self, connection: "Connection") -> LeaderChanges | None:
        if await version_of(connection) != len(STEPS):  # this server migrates it when it leads
            return None
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            begins, seq, digest, at, *leads = await connection.fetchrow(_HEAD)
            leader = Leader(*leads)
            await self._keep(connection, Head(seq, digest, at))
            if self._seq == seq:
                return LeaderChanges(leader, seq)
            there = {unmarked(key): card for key, card in await connection.fetch(_IDS)}
            gone = {key: card for key, card in self._known.items() if there.get(key) != card}
            fresh = [marked(key) for key, card in there.items() if self._known.get(key) != card]
            new = await connection.fetch(_NEW, fresh)
            last = self._seq
            anew = last is None or not max(begins - 1, seq - MOST) <= last <= seq
            if not anew:
                rows = await connection.fetch(_TOLD, last, TOLD)
            else:
                cards = list(set(gone.values()))
                rows = await connection.fetch(_ENDED, cards, ENDS) if cards else ()
            halts = [Halt(*map(unmarked, row)) for row in await connection.fetch(_HALTS)]
            orders = str(unmarked(await connection.fetchval(_ORDERS, ORDERS) or ""))
        waiting = [waiting_in(tuple(map(unmarked, row))) for row in new]
        records = [Record(*map(unmarked, row)) for row in rows]
        for record in records:
            if record.kind == RecordKind.ASKED and there.get(record.request_id) != record.card:
                gone[record.request_id] = record.card or 0  # it came and went since the last look
        self._known, self._seq = there, seq
        return LeaderChanges(leader, seq, waiting, gone, records, anew, halts, orders)
