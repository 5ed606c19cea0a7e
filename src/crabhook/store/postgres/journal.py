"""The record in PostgreSQL, for the only server that writes it."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future as Elsewhere
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crabhook.broker.pending import ANSWER_KEPT_FOR, same_secret
from crabhook.store.change import Change, Halt, KeptReply, Recovered, Waiting, carried
from crabhook.store.interface import (
    Batch,
    CorruptError,
    Proposal,
    StoreError,
    TicketError,
    WriterEndedError,
)
from crabhook.store.postgres.committer import Committer, Queued
from crabhook.store.postgres.connection import ANSWER_WITHIN, ConnectionThread, shown, speaking_of
from crabhook.store.postgres.leader import Leader, Pace
from crabhook.store.postgres.tables import answer_to, documents_in, proposals_in, unmarked
from crabhook.store.record import GENESIS, Cut, Document, Head, Retention
from crabhook.store.sql import ANSWER, WAITING, answer_in, cut_among, waiting_in
from crabhook.store.sqlite.files import HeadFile, private, sweep
from crabhook.store.writer import Writer

if TYPE_CHECKING:
    from crabhook.store.postgres.connection import Connection

_LOG = logging.getLogger(__name__)

HOUSE_WITHIN = 1.0  # seconds that a running server waits for minor tasks
LEFT_AFTER = 60.0  # seconds; another server on this machine may be about to rename a younger one
_ALL = "SELECT id, key, begins, seq, hash, at FROM head"
_WAITING = "SELECT request_id, secret FROM waiting"
_GIVEN = "SELECT request_id, secret, decided, delivered = 0 AND card IS NOT NULL FROM answer"
_HASH_OF = "SELECT hash FROM record WHERE seq = $1"
_OLDEST = "SELECT seq, at, hash FROM record ORDER BY seq LIMIT $1"
_COLUMNS = ", ".join(f'"{column}"' for column in WAITING)
_RESTORED = f"SELECT {_COLUMNS} FROM waiting ORDER BY card, asked, request_id"  # noqa: S608 - constants
_REMEMBERED = f"""
SELECT {", ".join(ANSWER)} FROM answer
WHERE decided >= $1 OR (delivered = 0 AND card IS NOT NULL) ORDER BY decided, request_id
"""  # noqa: S608 - constants


@dataclass(slots=True)
class _KeptAnswer:
    """A kept answer: its secret, its time, and whether its receipt is still missing."""

    secret: str
    decided: float
    owed: bool


class _Owners:
    """The secret of each waiting or answered request, in memory, so that nobody waits."""

    def __init__(self) -> None:
        self.waiting: dict[str, str] = {}
        self.given: dict[str, _KeptAnswer] = {}

    def is_anothers(self, request_id: str, secret: str) -> bool:
        """Whether a request's id has another secret."""
        waiting_secret, answer = self.waiting.get(request_id), self.given.get(request_id)
        secrets = (waiting_secret, answer.secret if answer else None)
        return any(
            known_secret is not None and not same_secret(known_secret, secret)
            for known_secret in secrets
        )

    def claim(self, changes: Sequence[Change]) -> None:
        """Take in a coming commit. Raises TicketError, and then keeps nothing of it."""
        new: dict[str, str] = {}
        for change in changes:
            tickets: list[Waiting | KeptReply] = [*change.waiting, *change.answers]
            for ticket in tickets:
                request_id, secret = ticket.request_id, ticket.secret
                another = not same_secret(new.setdefault(request_id, secret), secret)
                if another or self.is_anothers(request_id, secret):
                    raise TicketError(f"the request id {request_id} belongs to another secret")
        for change in changes:
            self._apply(change)

    def _apply(self, change: Change) -> None:
        for waiting in change.waiting:
            self.waiting[waiting.request_id] = waiting.secret
        for request_id in change.ended:
            self.waiting.pop(request_id, None)
        for answer in change.answers:
            self.given[answer.request_id] = _KeptAnswer(answer.secret, answer.decided, answer.owed)
        for request_id, _ in change.delivered:
            if request_id in self.given:
                self.given[request_id].owed = False

    def forget(self, before: float) -> int:
        """Delete answers decided before this wall time that are not owed; return their number."""
        old = [
            request_id
            for request_id, of in self.given.items()
            if of.decided < before and not of.owed
        ]
        for request_id in old:
            del self.given[request_id]
        return len(old)


class PgJournal:
    """The record at `url`, for its one writer; see `interface.Journal`.

    `beside` is this machine's folder for the kept head, if any. `me` are this server's addresses.
    Raises a StoreError where the record cannot be opened for writing: AnotherLeadsError while
    another writes it, after `patience` seconds.
    """

    shared = True
    key: bytes

    def __init__(
        self,
        url: str,
        beside: Path | None = None,
        *,
        me: Leader | None = None,
        patience: float = 0.0,
    ) -> None:
        self._thread, self._beside = ConnectionThread(url), beside
        self._committer = Committer(self._thread)
        self.pace = self._committer.pace
        self._owners = _Owners()
        self._head_file: HeadFile | None = None
        self._kept = self._tail = GENESIS
        self._begins = 1
        self._closed = False
        try:
            self._thread.wait(self._open(me or Leader(), patience))
        except BaseException:
            self._thread.close()
            raise

    async def _open(self, me: Leader, patience: float) -> None:
        connection = await self._committer.begin(patience)
        try:
            with speaking_of(self._thread.url):
                await self._read(connection)
                await self._committer.lead(me)
        except BaseException:
            self._committer.let_go()
            raise

    async def _read(self, connection: "Connection") -> None:
        """Read the state. Raises CorruptError if it is older than what was seen here."""
        name, self.key, self._begins, seq, digest, at = await connection.fetchrow(_ALL)
        self._tail = Head(seq, digest, at)
        for row in await connection.fetch(_WAITING):
            request_id, secret = map(unmarked, row)
            self._owners.waiting[request_id] = secret
        for row in await connection.fetch(_GIVEN):
            request_id, *answer = map(unmarked, row)
            self._owners.given[request_id] = _KeptAnswer(*answer)
        if self._beside is None:
            return
        private(self._beside)
        path = head_path(self._beside, name)
        sweep(self._beside, path.name, LEFT_AFTER)
        self._head_file = HeadFile(path)
        self._kept = kept = self._head_file.read() or GENESIS
        if kept == GENESIS and seq:
            where = shown(self._thread.url)
            warning = (
                "this machine kept no head of the record in %s: record %d is taken for its end (%s)"
            )
            _LOG.warning(warning, where, seq, digest.hex())
        if warning := await put_back(connection, self._thread.url, path, kept):
            raise CorruptError(warning)

    @property
    def trouble(self) -> str:
        """Why commits must wait, in a line; empty while they need not."""
        return self._committer.trouble

    def heed(self) -> None:
        """Raise a WriterEndedError if this process is no longer the writer."""
        if self._committer.lost is not None:
            raise WriterEndedError(str(self._committer.lost))  # raised anew, for a short traceback

    def take_over(self, key: bytes, recovered: Recovered) -> None:
        """Copy what an empty record gets from another beside its records: key and requests."""
        self._committer.ask(self._take_key(key))
        self._now(Batch(self._tail, (), (carried(recovered),)))
        self.key = key

    async def _take_key(self, key: bytes) -> None:
        await self._committer.connected().execute("UPDATE head SET key = $1", key)

    def head(self) -> Head:
        """Return the number, hash and time of the last record."""
        self.heed()
        return self._tail

    def hash_of(self, seq: int) -> bytes | None:
        """Return the hash of one record; None if it is missing."""
        return self._committer.ask(self._hash_of(seq))

    async def _hash_of(self, seq: int) -> bytes | None:
        digest: bytes | None = await self._committer.connected().fetchval(_HASH_OF, seq)
        return digest

    def commit(self, batch: Batch) -> asyncio.Future[None] | None:
        """Queue a batch; return its future, or None without a loop, when it is written."""
        self.heed()
        if batch.before != self._tail:
            raise StoreError(f"the record ends at {self._tail.seq}, not at {batch.before.seq}")
        self._owners.claim(batch.changes)
        if batch.records:
            last = batch.records[-1]
            self._tail = Head(last.seq, last.hash, last.at)
        if batch.cut:
            self._begins = batch.cut.begins
        return self._put(batch)

    def _put(self, batch: Batch, forget: float | None = None) -> asyncio.Future[None] | None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._now(batch, forget)
            return None
        pending: asyncio.Future[None] = loop.create_future()
        self._committer.put(Queued(batch, pending, loop, forget))
        return pending

    def _now(self, batch: Batch, forget: float | None = None) -> None:
        ending: Elsewhere[None] = Elsewhere()
        self._committer.put(Queued(batch, ending, None, forget))
        try:
            ending.result(ANSWER_WITHIN)
        except TimeoutError:
            error = WriterEndedError(self.trouble or "the record was not written in time")
            self._committer.lost = error
            raise error from None

    def is_anothers(self, request_id: str, secret: str) -> bool:
        """Whether a request's id has another secret."""
        return self._owners.is_anothers(request_id, secret)

    def recover(self, now: float) -> Recovered:
        """Return the waiting requests, and recent or owed answers."""
        return self._committer.ask(self._recovered(now - ANSWER_KEPT_FOR))

    async def _recovered(self, since: float) -> Recovered:
        connection = self._committer.connected()
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            waiting = await connection.fetch(_RESTORED)
            answers = await connection.fetch(_REMEMBERED, since)
            card = await connection.fetchval("SELECT card FROM head")
            halts = await connection.fetch("SELECT session, why FROM halt ORDER BY session")
            documents = await documents_in(connection)
        return Recovered(
            tuple(waiting_in(tuple(map(unmarked, row))) for row in waiting),
            tuple(answer_in(tuple(map(unmarked, row))) for row in answers),
            int(card),
            tuple(Halt(*map(unmarked, row)) for row in halts),
            tuple(documents.values()),
        )

    def documents(self) -> Mapping[str, Document]:
        """Return the documents by their names."""
        return self._committer.ask(self._documents())

    async def _documents(self) -> Mapping[str, Document]:
        return await documents_in(self._committer.connected())

    def proposals(self) -> Sequence[Proposal]:
        """Return the proposals without an answer yet, the oldest first."""
        return self._committer.ask(self._proposals(), HOUSE_WITHIN)

    async def _proposals(self) -> Sequence[Proposal]:
        return await proposals_in(self._committer.connected())

    def answer(self, proposal: str, refusal: str) -> None:
        """Answer a proposal by its id: empty means that it is now the document."""
        self._committer.ask(self._answer(proposal, refusal))

    async def _answer(self, proposal: str, refusal: str) -> None:
        await answer_to(self._committer.connected(), proposal, refusal)

    def forget_answers(self, before: float) -> int:
        """Delete answers decided before this wall time that are not owed; return their number."""
        self.heed()
        if count := self._owners.forget(before):
            self._put(Batch(self._tail), before)
        return count

    def kept_head(self) -> Head:
        """Return the head kept on this machine; GENESIS where retention deleted its record."""
        return self._kept if self._kept.seq >= self._begins else GENESIS

    def anchor(self, head: Head) -> None:
        """Keep `head`, which is committed, on this machine."""
        if self._head_file is not None and head not in (self._kept, GENESIS):
            self._head_file.keep(head)
            self._kept = head

    def next_cut(self, retention: Retention, now: float, at_most: int) -> Cut | None:
        """Return at most so many records to remove, never the last; None for none."""
        return self._committer.ask(self._next_cut(retention, now, at_most), HOUSE_WITHIN)

    async def _next_cut(self, retention: Retention, now: float, at_most: int) -> Cut | None:
        connection = self._committer.connected()
        oldest = [tuple(row) for row in await connection.fetch(_OLDEST, at_most + 1)]
        size = int(await connection.fetchval("SELECT bytes FROM head"))
        return cut_among(oldest, retention, now, large=size > retention.size)

    def give_back(self) -> None:
        """Do nothing: PostgreSQL manages its own space."""

    def close(self) -> None:
        """Write the rest, and let go; closing twice does nothing."""
        if not self._closed:
            self._closed = True
            self._committer.close()


async def put_back(connection: "Connection", url: str, path: Path, kept: Head) -> str:
    """Say that the record is older than the head `kept` in a file, or another; empty if not."""
    begins, seq = await connection.fetchrow("SELECT begins, seq FROM head")
    there = await connection.fetchval(_HASH_OF, kept.seq)
    if kept.seq <= seq and (kept.seq < begins or there == kept.hash):
        return ""
    return (
        f"the record in {shown(url)} ends at {seq}, and this machine saw "
        f"records up to {kept.seq}: an older backup was put back. Put back the "
        f"newest backup. Or, to go on with what is there, move {path} away"
    )


def head_path(beside: Path, name: str) -> Path:
    """Return the file on this machine with the head of the record of this name."""
    return beside / f"record-{name}.head"


def lead(
    url: str,
    me: Leader,
    patience: float,
    retention: Retention | None = None,
    beside: Path | None = None,
) -> tuple[Writer, Pace]:
    """Open the shared record at `url` as its leader: `me` are this server's addresses.

    Returns its writer, and how fast that is from now on. Raises a StoreError, AnotherLeadsError
    where another still leads after `patience` seconds.
    """
    journal = PgJournal(url, beside, me=me, patience=patience)
    return Writer(journal, retention), journal.pace
