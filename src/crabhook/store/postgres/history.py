"""The record in PostgreSQL for other processes than its writer: a view, and proposals.

Only the writer writes documents, in the chain. A proposal is a row beside it, and gets an answer
there.
"""

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from re import sub
from typing import TYPE_CHECKING, Any, TypeVar

from crabhook.store import interface
from crabhook.store.postgres.connection import (
    ANSWER_WITHIN,
    ConnectionThread,
    connect,
    shown,
    speaking_of,
)
from crabhook.store.postgres.journal import head_path
from crabhook.store.postgres.tables import (
    SCHEMA,
    SCHEMA_OF,
    documents_in,
    made,
    marked,
    schema_line,
    unmarked,
    version_of,
)
from crabhook.store.record import COLUMNS, GENESIS, Document, Head, Record
from crabhook.store.sql import ANSWER, WAITING, clauses
from crabhook.store.sqlite.files import HeadFile

if TYPE_CHECKING:
    from crabhook.store.postgres.connection import Connection

T = TypeVar("T")

AT_ONCE = 500  # rows fetched at a time
_WHOLE = 300.0  # seconds for a read of a whole long record
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM record"  # noqa: S608 - constants


class PgHistory(AbstractContextManager["PgHistory"]):
    """A view of the record at `url`; see `interface.History`.

    `beside` is this machine's folder with the kept head. Raises a StoreError without a readable
    record.
    """

    def __init__(self, url: str, beside: Path | None = None) -> None:
        self._thread = ConnectionThread(url)
        self._beside = beside
        self._kept: Head | interface.CorruptError | None = GENESIS
        try:
            self._connection = self._thread.wait(self._open())
        except BaseException:
            self._thread.close()
            raise

    async def _open(self) -> "Connection":
        connection = await connect(self._thread.url)
        try:
            with speaking_of(self._thread.url):
                await self._begun(connection)
                if self._beside is not None:  # read before the record, so it never leads
                    name = await connection.fetchval("SELECT id FROM head")
                    try:
                        self._kept = HeadFile(head_path(self._beside, name)).read() or GENESIS
                    except interface.CorruptError as error:
                        self._kept = error
                await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                await connection.execute("SELECT FROM head")
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _begun(self, connection: "Connection") -> None:
        if not await version_of(connection):
            where = shown(self._thread.url)
            raise interface.NoRecordError(
                f"there is no record in {where} yet: `crabhook serve` begins it"
            )

    def __exit__(self, *_: object) -> None:
        with suppress(interface.StoreError):
            self._thread.wait(self._connection.close(timeout=1), ANSWER_WITHIN)
        self._thread.close()

    def find(self, query: interface.Query = interface.ALL) -> Iterator[Record]:
        """Return the records that match `query`, in order."""
        tool = sub(r"([\\%_])", r"\\\1", query.tool).replace("*", "%")
        text, values = clauses(query, ("tool LIKE ?", tool))
        for row in self._rows(f"{_SELECT} {_numbered(text)}", values):
            yield Record(*map(unmarked, row))

    def kept_head(self) -> Head | None:
        """Return the head kept here, read before this view; GENESIS if there was none."""
        if isinstance(self._kept, interface.CorruptError):
            raise self._kept
        return self._kept

    def checkpoints(self) -> Iterator[str]:
        """Return the bodies of the checkpoints, in order."""
        rows = self._rows("SELECT body FROM record WHERE kind = 'checkpoint' ORDER BY seq")
        return (unmarked(body) for (body,) in rows)

    def last_stops(self) -> Record | None:
        """Return the last record of the stops; None without one."""
        rows = self._rows(f"{_SELECT} WHERE kind = 'stops' ORDER BY seq DESC LIMIT 1")
        return next((Record(*map(unmarked, row)) for row in rows), None)

    def damage(self) -> list[str]:
        """Return nothing: PostgreSQL reports damage when it reads."""
        return []

    def documents(self) -> Mapping[str, Document]:
        """Return the documents by their names; none from a schema without their table."""
        if not list(self._rows("SELECT 1 WHERE to_regclass('crabhook.document') IS NOT NULL")):
            return {}
        return self._ask(documents_in(self._connection))

    def beside(self) -> interface.SideTables:
        """Return the tables beside the record, as they are."""
        ((key, card, begins, seq, digest, at),) = self._rows(
            "SELECT key, card, begins, seq, hash, at FROM head"
        )
        halts = self._rows("SELECT session, why FROM halt")
        return interface.SideTables(
            key,
            card,
            begins,
            waiting=self._named(WAITING, "waiting"),
            answers=self._named(ANSWER, "answer"),
            halts=[(unmarked(session), unmarked(why)) for session, why in halts],
            head=Head(seq, digest, at),
        )

    def _named(self, columns: Sequence[str], table: str) -> list[interface.Row]:
        names = ", ".join(f'"{column}"' for column in columns)
        rows = self._rows(f"SELECT {names} FROM {table}")  # noqa: S608 - constants
        return [dict(zip(columns, map(unmarked, row), strict=True)) for row in rows]

    def schema(self) -> interface.Schema:
        """Return what the tables are, and what they are made; of an older version nothing."""
        if self._ask(version_of(self._connection)) != SCHEMA_OF:
            return interface.Schema(frozenset(), frozenset())
        there = frozenset(schema_line(str(text)) for (text,) in self._rows(SCHEMA))
        return interface.Schema(there, made())

    def agents(self) -> Iterator[interface.RecordedAgent]:
        """Return the sessions' agents, the latest first."""
        for row in self._rows("SELECT * FROM agent ORDER BY last DESC"):
            yield interface.RecordedAgent(*map(unmarked, row))

    def _rows(self, text: str, values: list[object] | None = None) -> Iterator[tuple[Any, ...]]:
        cursor = self._ask(
            self._connection.cursor(text, *map(marked, values or ()), timeout=_WHOLE)
        )
        while rows := self._ask(cursor.fetch(AT_ONCE, timeout=_WHOLE)):
            yield from map(tuple, rows)

    def _ask(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.wait(self._said(work), _WHOLE)

    async def _said(self, work: Coroutine[Any, Any, T]) -> T:
        with speaking_of(self._thread.url):
            return await work


def _numbered(text: str) -> str:
    """Return SQL with PostgreSQL's placeholders: $1, $2, and so on."""
    first, *rest = text.split("?")
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))


class PgDocument:
    """A document of the record at `url`, for repeated reading."""

    def __init__(self, url: str, name: str) -> None:
        self._thread, self._name = ConnectionThread(url), name
        self._connection: Connection | None = None

    def text(self) -> str:
        """Return its text, empty for no document. Raises StoreError, and can be called again."""
        return self._thread.wait(self._text())

    async def _text(self) -> str:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._thread.url)
        with speaking_of(self._thread.url):
            text = "SELECT text FROM document WHERE name = $1"
            return str(unmarked(await self._connection.fetchval(text, self._name) or ""))

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._thread.loop.call_soon_threadsafe(self._connection.terminate)
        self._thread.close()


ANSWERED_WITHIN = 15.0  # seconds; the writer looks each second
_LOOK_EVERY = 0.2  # seconds between two polls for the answer
_PUT = """
INSERT INTO proposal (id, document, follows, text, name, desk, signature)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""


def propose(url: str, proposal: interface.Proposal, within: float = ANSWERED_WITHIN) -> str:
    """Propose a document; return why the writer refused it, or nothing.

    Raises StoreError, and then the outcome is unknown.
    """
    thread = ConnectionThread(url)
    try:
        return thread.wait(_proposed(url, proposal, within), None)
    finally:
        thread.close()


async def _proposed(url: str, proposal: interface.Proposal, within: float) -> str:
    connection = await connect(url)
    values = (proposal.id, proposal.document, proposal.follows, proposal.text)
    try:
        with speaking_of(url):
            row = (*map(marked, (*values, proposal.name, proposal.desk)), proposal.signature)
            await connection.execute(_PUT, *row)
            try:
                async with asyncio.timeout(within):
                    return await _heard(connection, proposal)
            except TimeoutError:
                return await _unanswered(connection, url, proposal)
            finally:
                await connection.execute("DELETE FROM proposal WHERE id = $1", proposal.id)
    finally:
        connection.terminate()


async def _heard(connection: "Connection", proposal: interface.Proposal) -> str:
    while True:
        text = "SELECT answer FROM proposal WHERE id = $1 AND answer IS NOT NULL"
        row = await connection.fetchrow(text, proposal.id)
        if row is not None:
            return str(unmarked(row["answer"]))
        await asyncio.sleep(_LOOK_EVERY)


async def _unanswered(connection: "Connection", url: str, proposal: interface.Proposal) -> str:
    """Return nothing if it became the document before its writer could answer."""
    now = (await documents_in(connection)).get(proposal.document)
    if now is not None and (now.version, now.text) == (proposal.follows + 1, proposal.text):
        return ""
    raise interface.UnreachableError(
        f"no server that writes the record in {shown(url)} answers: begin one, and try again"
    )
