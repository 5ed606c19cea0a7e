"""The record read: by a connection that cannot write, beside a server that writes.

A reader sees the record as it was when it was opened, however long it reads.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from crabhook.store.errors import CorruptError, StoreError
from crabhook.store.query import Query
from crabhook.store.record import COLUMNS, Record, as_hash
from crabhook.store.retention import Cut, cut_of
from crabhook.store.sqlite_files import speaking_of
from crabhook.store.sqlite_tables import check

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM record"  # noqa: S608 - constants
READ_MS = 2000  # how long to wait for a lock; only an opening server holds one, and not long


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent of one session, as the record knows it; the main one has no id."""

    platform: str
    session: str
    agent_id: str
    agent_type: str
    first: int
    last: int
    since: str
    until: str
    records: int
    decisions: int


class Reader:
    """A view of the record at one moment.

    Raises a StoreError where there is no record, or none that can be read.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise StoreError(f"there is no record {path} yet; `crabhook serve` begins one")
        with speaking_of(path):
            self._connection = _opened(path)
        try:
            with speaking_of(path):
                check(self._connection)
                self._connection.execute("BEGIN")
                self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def records(self) -> Iterator[Record]:
        """Return every record, in order.  Raises sqlite3.Error where the file is damaged."""
        for row in self._connection.execute(f"{_SELECT} ORDER BY seq"):
            yield _record(row)

    def find(self, query: Query) -> Iterator[Record]:
        """Return the records that `query` asks for, in order."""
        text, values = query.sql()
        for row in self._connection.execute(f"{_SELECT} {text}", values):
            yield _record(row)

    def checkpoints(self) -> dict[int, bytes]:
        """Return, by the seq of the record that followed, the hashes at which the chain was cut."""
        rows = self._connection.execute("SELECT body FROM record WHERE kind = 'checkpoint'")
        cuts = {}
        for (body,) in rows:
            with suppress(ValueError, KeyError, TypeError):  # edited: its own link tells
                told = json.loads(body)
                cuts[int(told["begins"])] = bytes.fromhex(told["hash"])
        return cuts

    def cut_before(self) -> Cut | None:
        """Return the cut behind which the kept part begins; None where no checkpoint tells."""
        first = next(Reader.records(self), None)
        rows = self._connection.execute("SELECT body FROM record WHERE kind = 'checkpoint'")
        for (body,) in rows:
            with suppress(ValueError, KeyError, TypeError):
                cut = cut_of(body)
                if first and cut.begins == first.seq:
                    return cut
        return None

    def begins(self) -> int:
        """Return the number of the oldest record that is kept; 1 where there is none."""
        first = next(Reader.records(self), None)
        return first.seq if first else 1

    def unrecorded(self) -> list[str]:
        """Return the ids of answers to hooks that no decision on record gave."""
        missing = {str(row[0]) for row in self._connection.execute("SELECT request_id FROM answer")}
        if not missing:
            return []
        rows = self._connection.execute(
            "SELECT request_id, body FROM record WHERE kind = 'decided' ORDER BY seq DESC"
        )
        for request_id, body in rows:
            missing.discard(request_id)
            with suppress(ValueError, TypeError, AttributeError):
                missing.difference_update(map(str, json.loads(body).get("legs", ())))
            if not missing:
                break
        return sorted(missing)

    def damage(self) -> list[str]:
        """Return what SQLite itself finds wrong with its file and its indexes."""
        rows = self._connection.execute("PRAGMA integrity_check(10)").fetchall()
        return [str(row[0]) for row in rows if row[0] != "ok"]

    def agents(self) -> Iterator[Agent]:
        """Return the sessions' agents, the latest heard of first."""
        for row in self._connection.execute("SELECT * FROM agent ORDER BY last DESC"):
            yield Agent(*row)


def _record(row: tuple[Any, ...]) -> Record:
    record = Record(*row)
    if not isinstance(record.seq, int):  # the table's own definition is damaged
        raise CorruptError("the database is damaged: a record without a number")
    return record if isinstance(row[-1], bytes) else replace(record, hash=as_hash(row[-1]))


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
    )
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    connection.execute(f"PRAGMA busy_timeout = {READ_MS}")
    return connection
