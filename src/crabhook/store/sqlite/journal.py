"""The record as one SQLite file beside its head, its key and its lock, in a folder of its own.

Write-ahead logging with synchronous=NORMAL: after `commit` a kill loses nothing. A power cut may
take the records after the last `anchor`. A reader sees one moment of the record.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from typing import Any

from crabhook.broker.pending import ANSWER_KEPT_FOR
from crabhook.safe_open import read_own
from crabhook.store import interface
from crabhook.store.change import Recovered, carried
from crabhook.store.record import (
    COLUMNS,
    GENESIS,
    Cut,
    Document,
    Head,
    Record,
    Retention,
    as_hash,
    as_number,
)
from crabhook.store.sql import DOCUMENTS, clauses, cut_among
from crabhook.store.sqlite import files
from crabhook.store.sqlite.tables import (
    FORGET,
    SCHEMA,
    apply,
    check,
    is_anothers,
    made_by,
    recovered,
    schema_line,
)

WAL_CLEARED = 4_000_000  # bytes of log at which an anchor clears it

_INSERT = f"INSERT INTO record VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608 - constants
_HASH_OF = "SELECT hash FROM record WHERE seq = ?"
_BEGINS = "UPDATE counter SET value = ? WHERE name = 'begins'"
_OLDEST = "SELECT seq, at, hash FROM record ORDER BY seq LIMIT ?"
_LAST = "SELECT seq, hash, at FROM record ORDER BY seq DESC LIMIT 1"
_VACUUM_PAGES = 1000  # pages returned to the disk at a time


_BESIDE = tuple(f"{files.DATABASE}-{end}" for end in ("wal", "shm"))
_LEFT_OPEN: list[sqlite3.Connection] = []
"""Connections to databases that were replaced, until this process ends."""


def _gone(path: Path, now: files.Identity) -> interface.GoneError:
    how = "deleted" if now is None else "replaced"
    return interface.GoneError(f"{path} was {how} while the server ran")


class SqliteJournal:
    """The record in `folder`, for its only writer; see `interface.Journal`.

    Raises a StoreError where the record cannot be opened for writing.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / files.DATABASE
        self._head_file = files.HeadFile(folder / files.HEAD)
        self._kept: Head | None = None  # the kept head, as far as known
        files.private(folder)
        with ExitStack() as opened:
            self._lock = files.WriterLock(folder / files.LOCK)
            opened.callback(self._lock.release)
            for name in (files.HEAD, files.KEY):
                files.sweep(folder, name)
            self.key = files.load_key(folder / files.KEY)
            self._connection = files.connected(self.path)
            opened.callback(self._connection.close)
            self._cursor = self._connection.cursor()  # for what writes: one, not one a statement
            self._opened = opened.pop_all()
        self._watched = {
            path: files.identity(path)
            for path in (self.path, *map(self.path.with_name, (*_BESIDE, files.LOCK)))
        }
        self._database = self._watched[self.path]

    shared = False
    trouble = ""

    def heed(self) -> None:
        """Raise a GoneError if a file that is written here is not in the folder any more.

        A key that is gone is put back, since marks made from then on would not match.
        """
        for path, opened in self._watched.items():
            if opened is None:  # SQLite makes its log when it first needs one
                self._watched[path] = files.identity(path)
            elif (now := files.identity(path)) != opened:
                raise _gone(path, now)
        if files.identity(path := self.path.with_name(files.KEY)) is None:
            with files.speaking_of(path):
                files.put(path, self.key)

    def take_over(self, key: bytes, recovered: Recovered) -> None:
        """Copy what an empty record gets from another beside its records: key and requests."""
        self.key = key
        files.private(self.path.parent)
        with files.speaking_of(self.path):
            files.put(self.path.with_name(files.KEY), key)
        with files.transaction(self._cursor, self.path):
            apply(self._cursor, carried(recovered))

    def head(self) -> Head:
        """Return the number, hash and time of the last record."""
        with files.speaking_of(self.path):
            row = self._connection.execute(_LAST).fetchone()
        return Head(row[0], as_hash(row[1]), str(row[2])) if row else GENESIS

    def hash_of(self, seq: int) -> bytes | None:
        """Return the hash of one record; None if it is missing."""
        with files.speaking_of(self.path):
            row = self._connection.execute(_HASH_OF, (seq,)).fetchone()
        return as_hash(row[0]) if row else None

    def commit(self, batch: interface.Batch) -> None:
        """Write a batch; after this a kill loses nothing.

        Raises GoneError where the database was deleted: what is written to such a file is lost.
        """
        if (now := files.identity(self.path)) != self._database:
            raise _gone(self.path, now)
        with files.transaction(self._cursor, self.path):
            self._cursor.executemany(_INSERT, batch.records)
            for change in batch.changes:
                apply(self._cursor, change)
            if batch.cut:  # its checkpoint is among the records
                begins = (batch.cut.begins,)
                self._cursor.execute(_BEGINS, begins)
                self._cursor.execute("DELETE FROM record WHERE seq < ?", begins)

    def is_anothers(self, request_id: str, secret: str) -> bool:
        """Whether a request's id has another secret."""
        with files.speaking_of(self.path):
            return is_anothers(self._connection, request_id, secret)

    def recover(self, now: float) -> Recovered:
        """Return the waiting requests, and recent or owed answers."""
        with files.speaking_of(self.path):
            return recovered(self._connection, now - ANSWER_KEPT_FOR)

    def documents(self) -> Mapping[str, Document]:
        """Return the documents of a shared record that was moved here."""
        with files.speaking_of(self.path):
            return {row[0]: Document(*row) for row in self._connection.execute(DOCUMENTS)}

    def proposals(self) -> Sequence[interface.Proposal]:
        """Return nothing: on a single machine the owner edits the files."""
        return ()

    def answer(self, proposal: str, refusal: str) -> None:
        """Answer nobody: nothing can be proposed here."""

    def forget_answers(self, before: float) -> int:
        """Delete answers decided before this wall time that are not owed; return their number."""
        with files.transaction(self._cursor, self.path):
            return self._cursor.execute(FORGET, (before,)).rowcount

    def kept_head(self) -> Head | None:
        """Return the head that was kept apart from the record; None where there is none."""
        self._kept = self._head_file.read()
        return self._kept

    def anchor(self, head: Head) -> None:
        """Make all records safe from a power cut, then keep `head` apart from them."""
        size = files.synced(self.path.with_name(f"{self.path.name}-wal"))
        if head != self._kept:
            self._head_file.keep(head)
            self._kept = head
        if size > WAL_CLEARED:
            with files.speaking_of(self.path), closing(files.connect(self.path)) as other:
                other.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def next_cut(self, retention: Retention, now: float, at_most: int) -> Cut | None:
        """Return at most so many records to remove, never the last; None for none."""
        with files.speaking_of(self.path):
            oldest = self._connection.execute(_OLDEST, (at_most + 1,)).fetchall()
            large = self._used() > retention.size
        return cut_among(oldest, retention, now, large=large)

    def give_back(self) -> None:
        """Return some free pages to the disk, when there are many."""
        with files.speaking_of(self.path):
            free, pages = (self._pragma(f"{of}_count") for of in ("freelist", "page"))
            if free > max(_VACUUM_PAGES, pages // 10):
                vacuum = f"PRAGMA incremental_vacuum({_VACUUM_PAGES})"
                self._connection.execute(vacuum).fetchall()

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        if files.identity(self.path) not in (None, self._database):
            # Closed, it would remove the log of the database that lies there now.
            _LEFT_OPEN.append(self._connection)
            self._opened.pop_all()
            self._lock.release()
            return
        self._opened.close()

    def _used(self) -> int:
        """Return how many bytes of the database are in use."""
        pages = self._pragma("page_count") - self._pragma("freelist_count")
        return pages * self._pragma("page_size")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])


_SELECT = f"SELECT {', '.join(COLUMNS)} FROM record"  # noqa: S608 - constants
READ_MS = 2000  # wait for a lock; only an opening server holds it, for a moment


class SqliteHistory(AbstractContextManager["SqliteHistory"]):
    """A view of the record in `folder`; raises a StoreError if it is not readable."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / files.DATABASE
        self._version = 0
        self._kept: Head | interface.CorruptError | None
        try:
            self._kept = files.HeadFile(
                folder / files.HEAD
            ).read()  # read before the record, so it never leads
        except interface.CorruptError as error:
            self._kept = error
        if not self._path.exists():
            raise interface.NoRecordError(
                f"there is no record {self._path} yet: `crabhook serve` begins it"
            )
        with files.speaking_of(self._path, files.READING):
            self._connection = _opened(self._path)
        try:
            with files.speaking_of(self._path, files.READING):
                self._version = check(self._connection)
                self._connection.execute("BEGIN")
                self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except BaseException:
            self._connection.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def find(self, query: interface.Query = interface.ALL) -> Iterator[Record]:
        """Return the records that match `query`, in order."""
        tool = query.tool.replace("[", "[[]").replace("?", "[?]")  # only `*` is special
        text, values = clauses(query, ("tool GLOB ?", tool))
        for row in self._rows(f"{_SELECT} {text}", values):
            record = Record(*row)
            if not isinstance(record.seq, int):  # the table's own definition is damaged
                raise interface.CorruptError("the database is damaged: a record without a number")
            yield record if isinstance(row[-1], bytes) else record._replace(hash=as_hash(row[-1]))

    def kept_head(self) -> Head | None:
        """Return the head kept apart, read before this view, so that it never leads the record."""
        if isinstance(self._kept, interface.CorruptError):
            raise self._kept
        return self._kept

    def checkpoints(self) -> Iterator[str]:
        """Return the bodies of the checkpoints, in order."""
        rows = self._rows("SELECT body FROM record WHERE kind = 'checkpoint' ORDER BY seq")
        return (body for (body,) in rows)

    def last_stops(self) -> Record | None:
        """Return the last record of the stops; None without one."""
        rows = self._rows(f"{_SELECT} WHERE kind = 'stops' ORDER BY seq DESC LIMIT 1")
        return next((Record(*row) for row in rows), None)

    def damage(self) -> list[str]:
        """Return the damage that SQLite finds in its file and its indexes."""
        return [str(row[0]) for row in self._rows("PRAGMA integrity_check(10)") if row[0] != "ok"]

    def documents(self) -> Mapping[str, Document]:
        """Return the documents by their names; none from a database without their table."""
        if not list(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'document'")):
            return {}
        return {str(row[0]): Document(*row) for row in self._rows(DOCUMENTS)}

    def beside(self) -> interface.SideTables:
        """Return the tables beside the record, as they are."""
        try:
            key = read_own(self._path.with_name(files.KEY), 1024)
        except OSError:
            key = b""
        counters = {str(name): value for name, value in self._rows("SELECT * FROM counter")}
        return interface.SideTables(
            key,
            as_number(counters.get("card")),
            as_number(counters.get("begins")),
            waiting=self._named("SELECT * FROM waiting"),
            answers=self._named("SELECT * FROM answer"),
            halts=self._halts(),
        )

    def _halts(self) -> list[tuple[str, str]]:
        """Return the rows of stops and notes; none from a database without their table."""
        if not list(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'halt'")):
            return []
        rows = self._rows("SELECT session, why FROM halt")
        return [(str(session), str(why)) for session, why in rows]

    def schema(self) -> interface.Schema:
        """Return what the tables are, and what the steps up to their version make them."""
        there = frozenset(map(schema_line, self._rows(SCHEMA)))
        return interface.Schema(there, made_by(self._version))

    def agents(self) -> Iterator[interface.RecordedAgent]:
        """Return the sessions' agents, the latest first."""
        for row in self._rows("SELECT * FROM agent ORDER BY last DESC"):
            yield interface.RecordedAgent(*row)

    def _named(self, text: str) -> list[interface.Row]:
        with files.speaking_of(self._path, files.READING):
            cursor = self._connection.execute(text)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def _rows(self, text: str, values: list[object] | None = None) -> Iterator[tuple[Any, ...]]:
        with files.speaking_of(self._path, files.READING):
            cursor = self._connection.execute(text, values or ())
            yield from iter(cursor.fetchone, None)  # a separate cursor would be closed too late


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
    )
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    connection.execute(f"PRAGMA busy_timeout = {READ_MS}")
    return connection
