"""The record read from its SQLite file, by a connection that cannot write, beside a server.

A reader sees the record as it was when it was opened, however long it reads.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from crabhook.store.interface import ALL, Agent, CorruptError, Query, StoreError
from crabhook.store.record import COLUMNS, Head, Record, as_hash
from crabhook.store.sqlite.files import DATABASE, HEAD, READING, HeadFile, speaking_of
from crabhook.store.sqlite.tables import check

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM record"  # noqa: S608 - constants
READ_MS = 2000  # how long to wait for a lock; only an opening server holds one, and not long


class SqliteHistory(AbstractContextManager["SqliteHistory"]):
    """A view of the record in `folder`; see `interface.History`.

    Raises a StoreError where there is no record, or none that can be read.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / DATABASE
        self._kept: Head | CorruptError | None
        try:
            self._kept = HeadFile(folder / HEAD).read()  # before the record: it never leads
        except CorruptError as error:
            self._kept = error
        if not self._path.exists():
            raise StoreError(f"there is no record {self._path} yet; `crabhook serve` begins one")
        with speaking_of(self._path, READING):
            self._connection = _opened(self._path)
        try:
            with speaking_of(self._path, READING):
                check(self._connection)
                self._connection.execute("BEGIN")
                self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            self._connection.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def find(self, query: Query = ALL) -> Iterator[Record]:
        """Return the records that `query` asks for, in order."""
        text, values = _sql(query)
        for row in self._rows(f"{_SELECT} {text}", values):
            record = Record(*row)
            if not isinstance(record.seq, int):  # the table's own definition is damaged
                raise CorruptError("the database is damaged: a record without a number")
            yield record if isinstance(row[-1], bytes) else replace(record, hash=as_hash(row[-1]))

    def kept_head(self) -> Head | None:
        """Return the head kept apart, as it was before this view; so it never leads the record."""
        if isinstance(self._kept, CorruptError):
            raise self._kept
        return self._kept

    def checkpoints(self) -> Iterator[str]:
        """Return the bodies of the checkpoints, in order."""
        rows = self._rows("SELECT body FROM record WHERE kind = 'checkpoint' ORDER BY seq")
        return (body for (body,) in rows)

    def unrecorded(self) -> list[str]:
        """Return the ids of answers to hooks that no decision on record gave."""
        missing = {str(row[0]) for row in self._rows("SELECT request_id FROM answer")}
        if not missing:
            return []
        decided = "SELECT request_id, body FROM record WHERE kind = 'decided' ORDER BY seq DESC"
        for request_id, body in self._rows(decided):
            missing.discard(request_id)
            with suppress(ValueError, TypeError, AttributeError):
                missing.difference_update(map(str, json.loads(body).get("legs", ())))
            if not missing:
                break
        return sorted(missing)

    def damage(self) -> list[str]:
        """Return what SQLite itself finds wrong with its file and its indexes."""
        return [str(row[0]) for row in self._rows("PRAGMA integrity_check(10)") if row[0] != "ok"]

    def agents(self) -> Iterator[Agent]:
        """Return the sessions' agents, the latest heard of first."""
        for row in self._rows("SELECT * FROM agent ORDER BY last DESC"):
            yield Agent(*row)

    def _rows(self, text: str, values: list[object] | None = None) -> Iterator[tuple[Any, ...]]:
        with speaking_of(self._path, READING):
            cursor = self._connection.execute(text, values or ())
            yield from iter(cursor.fetchone, None)  # a cursor of its own would be closed too late


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
    )
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    connection.execute(f"PRAGMA busy_timeout = {READ_MS}")
    return connection


def _sql(query: Query) -> tuple[str, list[object]]:
    """Return the query's clauses, and the values for their marks."""
    wanted = [(clause, value) for clause, asked, value in _conditions(query) if asked]
    where = f"WHERE {' AND '.join(clause for clause, _ in wanted)} " if wanted else ""
    values = [one for _, value in wanted for one in value]
    order = "ORDER BY seq DESC" if query.backwards else "ORDER BY seq"
    if not query.last:
        return f"{where}{order}", values
    latest = f"(SELECT seq FROM record {where}ORDER BY seq DESC LIMIT ?)"  # noqa: S608 - marks
    return f"WHERE seq IN {latest} {order}", [*values, query.last]


def _conditions(query: Query) -> list[tuple[str, bool, list[object]]]:
    marks = ", ".join("?" * len(query.kinds))
    session = [query.session, query.session + "\U0010ffff"]
    tool = query.tool.replace("[", "[[]").replace("?", "[?]")  # nothing but `*` is special
    return [
        ("at >= ?", bool(query.since), [query.since]),
        ("at < ?", bool(query.until), [query.until]),
        ("tool GLOB ?", bool(query.tool), [tool]),
        ("session <> '' AND session >= ? AND session < ?", bool(query.session), [*session]),
        ("verdict <> '' AND verdict = ?", bool(query.verdict), [query.verdict]),
        (f"kind IN ({marks})", bool(query.kinds), list(query.kinds)),
        ("card = ?", query.card is not None, [query.card]),
    ]
