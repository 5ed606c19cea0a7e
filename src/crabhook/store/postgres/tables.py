"""The tables of the PostgreSQL database, and how a group of batches is written.

`steps` create the tables. A released step never changes: an older database takes its missing steps
in a single transaction, and a newer database is refused.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.store.change import Merged
from crabhook.store.interface import Batch, ForeignError, Proposal
from crabhook.store.record import COLUMNS, Cut, Document, Head, Record
from crabhook.store.sql import (
    ANSWER,
    DOCUMENTS,
    WAITING,
    answer_row,
    document_row,
    halt_row,
    waiting_row,
)

if TYPE_CHECKING:
    from crabhook.store.postgres.connection import Connection

_FOLDER = Path(__file__).with_name("steps")
STEPS: Sequence[str] = [_FOLDER.joinpath(f"{step}.sql").read_text("utf-8") for step in range(1, 8)]
KEY_BYTES = 32
BELL = "crabhook"
"""PostgreSQL's channel (NOTIFY) that reports each commit to standbys."""
RING = f"SELECT pg_notify('{BELL}', '')"
_VERSION = """
SELECT (SELECT count(*) FROM pg_tables WHERE schemaname = 'crabhook'),
  to_regclass('crabhook.step') IS NOT NULL
"""
_BEGIN = """
CREATE SCHEMA IF NOT EXISTS crabhook;
CREATE TABLE crabhook.step (number integer PRIMARY KEY, at timestamptz DEFAULT now());
"""


async def version_of(connection: "Connection", steps: Sequence[str] = STEPS) -> int:
    """Return the schema's version, 0 without one; ForeignError if not ours or too new."""
    tables, ours = await connection.fetchrow(_VERSION)
    if tables and not ours:
        raise ForeignError("the schema crabhook is there, but holds no record of crabhook's")
    version = int(await connection.fetchval("SELECT max(number) FROM step") or 0) if ours else 0
    if version > len(steps):
        raise ForeignError(
            f"the record is of version {version}, and this crabhook knows up to {len(steps)}. "
            "Use the newer crabhook"
        )
    return version


async def migrate(connection: "Connection", steps: Sequence[str] = STEPS) -> None:
    """Bring the schema to the newest version; for the holder of the writer's lock."""
    version = await version_of(connection, steps)
    if version == len(steps):
        return
    async with connection.transaction():
        if not version:
            await connection.execute(_BEGIN)
        for number, step in enumerate(steps[version:], version + 1):
            await connection.execute(step)
            await connection.execute("INSERT INTO step VALUES ($1)", number)
        if not version:
            await connection.execute("INSERT INTO head (key) VALUES ($1)", os.urandom(KEY_BYTES))


async def documents_in(connection: "Connection") -> dict[str, Document]:
    """Return the documents by their names."""
    rows = [tuple(map(unmarked, row)) for row in await connection.fetch(DOCUMENTS)]
    return {str(row[0]): Document(*row) for row in rows}


SCHEMA_OF = len(STEPS)
"""The version that `schema.txt` is of."""
SCHEMA = """
WITH ours AS (SELECT * FROM pg_class WHERE relnamespace = 'crabhook'::regnamespace)
SELECT format('relation %s %s %s', relname, relkind,
  CASE WHEN relrowsecurity THEN 'of some rows' ELSE '' END)
FROM ours WHERE relkind NOT IN ('i', 't')
UNION ALL SELECT format('index %s', pg_get_indexdef(oid)) FROM ours WHERE relkind = 'i'
UNION ALL SELECT format('column %s.%s %s %s %s', relname, attname,
  format_type(atttypid, atttypmod), attcollation::regcollation,
  CASE WHEN attnotnull THEN 'not null' ELSE '' END)
FROM ours JOIN pg_attribute ON attrelid = ours.oid
WHERE relkind NOT IN ('i', 't') AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT format('trigger %s of %s %s %s %s', tgname, relname, tgtype, tgenabled, proname)
FROM ours JOIN pg_trigger ON tgrelid = ours.oid JOIN pg_proc ON tgfoid = pg_proc.oid
WHERE NOT tgisinternal
UNION ALL SELECT format('rule %s of %s', rulename, relname)
FROM ours JOIN pg_rewrite ON ev_class = ours.oid WHERE rulename <> '_RETURN'
UNION ALL SELECT format('function %s %s', proname, prosrc)
FROM pg_proc WHERE pronamespace = 'crabhook'::regnamespace
UNION ALL SELECT format('view %s %s', relname, pg_get_viewdef(oid)) FROM ours WHERE relkind = 'v'
"""
_BY_VERSION = re.compile(r"crabhook\.|\brecord\.|[\s()]+")


def schema_line(text: str) -> str:
    """Return a row of `SCHEMA` as a line; PostgreSQL writes a view by its own version."""
    return _BY_VERSION.sub(" ", text).strip()


def made() -> frozenset[str]:
    """Return the lines of a schema that nobody changed."""
    text = Path(__file__).with_name("schema.txt").read_text("utf-8")
    return frozenset(text.splitlines())


# PostgreSQL's texts cannot hold NUL, and an agent may send it: a mark stands in its place.
_MARK = "\uf8ff"


def marked(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """Return a column's value in a form that PostgreSQL can hold."""
    if isinstance(value, str) and ("\0" in value or _MARK in value):
        return value.replace(_MARK, f"{_MARK}1").replace("\0", f"{_MARK}0")
    return value


def unmarked(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """Return the value before `marked`."""
    if isinstance(value, str) and _MARK in value:
        return value.replace(f"{_MARK}0", "\0").replace(f"{_MARK}1", _MARK)
    return value


_OPEN = """
SELECT id, document, follows, text, name, desk, signature FROM proposal
WHERE answer IS NULL AND at > now() - interval '1 minute' ORDER BY at LIMIT 16
"""
_OLD = "DELETE FROM proposal WHERE at < now() - interval '1 hour'"


async def proposals_in(connection: "Connection") -> Sequence[Proposal]:
    """Return the proposals without an answer whose authors still wait, the oldest first."""
    return [Proposal(*map(unmarked, row)) for row in await connection.fetch(_OPEN)]


async def answer_to(connection: "Connection", proposal: str, refusal: str) -> None:
    """Answer a proposal by its id: empty means that it is now the document."""
    await connection.execute(
        "UPDATE proposal SET answer = $2 WHERE id = $1", proposal, marked(refusal)
    )
    await connection.execute(_OLD)


_T, _B, _N, _F = "text", "bytea", "bigint", "double precision"
_RECORD_TYPES = (_N, *(_T,) * 10, _N, _T, _T, _B, "integer")
_WAITING_TYPES = (_T, _T, _T, _B, _T, _F, _F, _N, _T, _N, _T, _F, _B, _T, "integer")
_ANSWER_TYPES = (_T, _T, _B, _B, "integer", _F, "integer", _N, _T, _B, _B, _T)
_ROW_OVER = 200  # bytes of a record beside its texts: row header, number and indexes

_FENCE = """
UPDATE head SET seq = {}, hash = {}, at = {}, card = greatest(card, {}), bytes = bytes + {}
WHERE seq = {} AND hash = {} AND epoch = {} RETURNING 1
"""
_WAITS_ON = """
ON CONFLICT (request_id) DO UPDATE SET asked = excluded.asked, wait_until = excluded.wait_until,
card = excluded.card, gives_up_at = excluded.gives_up_at
"""
_GIVEN = "ON CONFLICT (request_id) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in ANSWER[1:]
)
_HAS_IT = """
UPDATE answer SET delivered = 1, card = NULL, platform = NULL, payload = NULL, decision = NULL
FROM fence WHERE request_id = ANY({}::text[])
"""
_WAS_GONE = "UPDATE answer SET delivered = 2 FROM fence WHERE request_id = ANY({}::text[])"
_ENDED = "DELETE FROM waiting USING fence WHERE request_id = ANY({}::text[])"
_FORGET = "DELETE FROM answer WHERE decided < $1 AND (delivered <> 0 OR card IS NULL)"
_DOCUMENT = """
INSERT INTO document VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO UPDATE SET
version = excluded.version, text = excluded.text, at = excluded.at, "by" = excluded."by"
"""
_CUT = """
WITH gone AS (DELETE FROM record WHERE seq < $1 RETURNING size)
UPDATE head SET bytes = bytes - (SELECT coalesce(sum(size), 0) FROM gone)
"""


def _insert(table: str, columns: Sequence[str], types: Sequence[str]) -> str:
    """Return the SQL that inserts rows given as a list for each column."""
    named = ", ".join(f'"{column}"' for column in columns)
    lists = ", ".join(f"{{}}::{kind}[]" for kind in types)
    each = ", ".join(f'r."{column}"' for column in columns)
    return f"INSERT INTO {table} ({named}) SELECT {each} FROM fence, unnest({lists}) AS r({named})"  # noqa: S608 - constants


_RECORDS = _insert("record", (*COLUMNS, "size"), _RECORD_TYPES)
_WAITS = _insert("waiting", WAITING, _WAITING_TYPES) + _WAITS_ON
_ANSWERS = _insert("answer", ANSWER, _ANSWER_TYPES) + _GIVEN


def _by_column(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    return [[marked(value) for value in column] for column in zip(*rows, strict=True)]


def _size(record: Record) -> int:
    """Return the approximate bytes of a record."""
    return _ROW_OVER + sum(len(value) for value in record if isinstance(value, str))


@dataclass(slots=True)
class Step:
    """The writes of a group of batches in a transaction, from head `before` to head `after`."""

    before: Head
    after: Head
    records: list[Record]
    merged: Merged
    cut: Cut | None = None
    forget: float | None = None
    """Answers decided before this wall time are deleted."""

    _sql: list[str] = field(default_factory=list)
    _values: list[object] = field(default_factory=list)

    @classmethod
    def of(cls, batches: Sequence[Batch], forget: float | None = None) -> "Step":
        """Return the step of a group of batches."""
        records = [record for batch in batches for record in batch.records]
        before = batches[0].before
        after = Head(records[-1].seq, records[-1].hash, records[-1].at) if records else before
        merged = Merged(change for batch in batches for change in batch.changes)
        cut = next((batch.cut for batch in reversed(batches) if batch.cut), None)
        return cls(before, after, records, merged, cut, forget)

    async def write(self, connection: "Connection", epoch: int, *, bell: bool = True) -> bool:
        """Write all or nothing: False if the head is not the expected head.

        `bell` notifies followers. The fence comes first, and the rest is written from its row.
        """
        text = self._statement(epoch, bell=bell)
        halts, cut, documents = self.merged.halts, self.cut, self.merged.documents
        if halts is None and cut is None and self.forget is None and not documents:
            return await connection.fetchval(text, *self._values) is not None
        async with connection.transaction():
            if await connection.fetchval(text, *self._values) is None:
                return False
            if halts is not None:
                rows = [tuple(map(marked, halt_row(halt))) for halt in halts]
                await connection.execute("DELETE FROM halt")
                put = (
                    "INSERT INTO halt VALUES ($1, $2) ON CONFLICT (session) DO UPDATE SET why = $2"
                )
                await connection.executemany(put, rows)
            if documents:
                rows = [
                    tuple(map(marked, document_row(document))) for document in documents.values()
                ]
                await connection.executemany(_DOCUMENT, rows)
            if cut is not None:
                begins = "UPDATE head SET begins = greatest(begins, $1)"
                await connection.execute(begins, cut.begins)
                await connection.execute(_CUT, cut.begins)
            if self.forget is not None:
                await connection.execute(_FORGET, self.forget)
        return True

    def _statement(self, epoch: int, *, bell: bool) -> str:
        """Return the statement and its values; the driver keeps it prepared."""
        self._sql, self._values = [], []
        sizes = [_size(record) for record in self.records]
        merged, after, before = self.merged, self.after, self.before
        head = (after.seq, after.hash, after.at, merged.last_card, sum(sizes))
        self._part(_FENCE, *head, before.seq, before.hash, epoch)
        if self.records:
            self._part(_RECORDS, *_by_column(self.records), sizes)
        if merged.waiting:
            self._part(_WAITS, *_by_column(map(waiting_row, merged.waiting.values())))
        if merged.answers:
            self._part(_ANSWERS, *_by_column(map(answer_row, merged.answers.values())))
        fates = merged.delivered.items()
        for text, ids in (
            (_ENDED, list(merged.ended)),
            (_HAS_IT, [request_id for request_id, whole in fates if whole]),
            (_WAS_GONE, [request_id for request_id, whole in fates if not whole]),
        ):
            if ids:
                self._part(text, [marked(request_id) for request_id in ids])
        names = chain(("fence",), (f"part{number}" for number in count(1)))
        parts = [f"{name} AS ({text})" for name, text in zip(names, self._sql, strict=False)]
        rings = f", pg_notify('{BELL}', '')" if bell else ""
        return f"WITH {', '.join(parts)} SELECT 1{rings} FROM fence"  # noqa: S608 - marks

    def _part(self, text: str, *values: object) -> None:
        marks = [
            f"${number}"
            for number in range(len(self._values) + 1, len(self._values) + 1 + len(values))
        ]
        self._sql.append(text.format(*marks))
        self._values += values
