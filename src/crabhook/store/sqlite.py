"""The store as one SQLite file beside its head, its key and its lock, in a folder of its own.

Write-ahead logging with synchronous=NORMAL: once `write` has returned, a kill
of the process at any moment loses nothing, for the pages are the operating
system's by then.  A power cut may take the last moments, up to the last
`anchor`; what is lost then is lost from the end, never from the middle.
"""

from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Lock
from time import time

from crabhook.broker.tickets import ANSWER_KEPT_FOR
from crabhook.store.change import Change, Recovered, happened
from crabhook.store.errors import CorruptError, FullError
from crabhook.store.fingerprint import load_key
from crabhook.store.head import HeadFile, written
from crabhook.store.record import COLUMNS, GENESIS, Entry, Head, Kind, as_hash
from crabhook.store.redact import Redactor
from crabhook.store.retention import Cut, Retention, give_back, next_cut, remove
from crabhook.store.shape import Shaper
from crabhook.store.sqlite_files import (
    WriterLock,
    connect,
    connected,
    private,
    speaking_of,
    synced,
    transaction,
)
from crabhook.store.sqlite_tables import apply, forget, is_anothers, recovered

CUT_OFF = "the record does not lead to the head that was kept apart: its end was cut off"
MISSING = "the head that was kept apart is gone"
WAL_CLEARED = 4_000_000  # bytes of log at which an anchor clears it

_INSERT = f"INSERT INTO record VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608 - constants
_HASH_OF = "SELECT hash FROM record WHERE seq = ?"
_LAST = "SELECT seq, hash, at FROM record ORDER BY seq DESC LIMIT 1"


class SqliteStore:
    """The record in `folder`, for its one writer.

    Writing is for one thread; `anchor` may run in another meanwhile.  Raises
    a StoreError where the record cannot be opened for writing.
    """

    def __init__(self, folder: Path, retention: Retention | None = None) -> None:
        self.path = folder / "record.db"
        self._retention = retention or Retention()
        self._head_file = HeadFile(folder / "record.head")
        self._kept: Head | None = None  # the head kept apart
        self._head = GENESIS
        self._in_doubt = False  # whether the head has to be read again, after a fault
        self._anchoring = Lock()
        private(folder)
        with ExitStack() as opened:
            lock = WriterLock(folder / "record.lock")
            opened.callback(lock.release)
            self._shaper = Shaper(Redactor(load_key(folder / "record.key")))
            self._connection = connected(self.path)
            opened.callback(self._connection.close)
            self._head = self._read_head()
            self._notice_a_cut(time())
            with suppress(FullError):  # what is there can still be recovered
                self.anchor()
            opened.callback(self.anchor)
            self._opened = opened.pop_all()

    def __repr__(self) -> str:
        return f"<SqliteStore {self.path} head={self._head.seq}>"

    @property
    def head(self) -> Head:
        """The last record's number and hash."""
        return self._head

    def write(self, changes: Sequence[Change]) -> Head:
        """Write all of them in one transaction; see `interface.Store`."""
        return self._write(changes)

    def is_anothers(self, request_id: str, secret: str) -> bool:
        """Whether a request's id is known by another secret."""
        with speaking_of(self.path):
            return is_anothers(self._connection, request_id, secret)

    def recover(self, now: float) -> Recovered:
        """Return what was waiting, just answered, or owed, but no answers too old to be asked for.

        It writes nothing, so that a full disk costs no request.
        """
        with speaking_of(self.path):
            return recovered(self._connection, now - ANSWER_KEPT_FOR)

    def forget_answers(self, before: float) -> int:
        """Forget answers decided before this wall time that are not owed; return how many."""
        with transaction(self._connection, self.path):
            return forget(self._connection, before)

    def anchor(self) -> Head:
        """Make all that is recorded safe from a power cut, then keep the head apart from it.

        In this order, so that the head kept apart never leads the database.
        """
        with self._anchoring:
            head = self._head
            size = synced(self.path.with_name(f"{self.path.name}-wal"))
            if head != self._kept:
                self._head_file.keep(head)
                self._kept = head
        if size > WAL_CLEARED:
            with speaking_of(self.path), closing(connect(self.path)) as other:
                other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return head

    def prune(self, now: float, *, at_most: int = 1000) -> int:
        """Remove records past their age or the size allowed, the oldest first; return how many."""
        with speaking_of(self.path):
            cut = next_cut(self._connection, self._retention, now, at_most)
        if cut is None:
            return 0
        self.anchor()  # the head kept apart is always of a record that is still there
        self._write([happened(cut.entry(now))], cut)
        with speaking_of(self.path):
            give_back(self._connection)
        return cut.removed

    def close(self) -> None:
        """Anchor and let go; to close twice does nothing."""
        self._opened.close()

    def _write(self, changes: Sequence[Change], cut: Cut | None = None) -> Head:
        if self._in_doubt:
            self._head = self._read_head()
        self._in_doubt = True
        entries = [entry for change in changes for entry in change.entries]
        records = list(self._shaper.records(self._head, entries))
        with transaction(self._connection, self.path):
            for record in records:
                self._connection.execute(_INSERT, record.row())
            for change in changes:
                apply(self._connection, change)
            if cut:
                remove(self._connection, cut)
        if records:
            self._head = Head(records[-1].seq, records[-1].hash, records[-1].at)
        self._in_doubt = False
        return self._head

    def _read_head(self) -> Head:
        with speaking_of(self.path):
            row = self._connection.execute(_LAST).fetchone()
        return Head(row[0], as_hash(row[1]), str(row[2])) if row else GENESIS

    def _notice_a_cut(self, now: float) -> None:
        """Record it, for good, if the database does not lead to the head that was kept apart."""
        try:
            kept = self._kept = self._head_file.read()
        except CorruptError as error:
            kept, why = None, str(error)
        else:
            if self._leads_to(kept):
                return
            why = CUT_OFF if kept else MISSING
        head = written(kept).strip() if kept else None
        cut = Entry(
            Kind.GAP, now, body={"cut": True, "why": why, "ends": self._head.seq, "head": head}
        )
        self._write([happened(cut)])

    def _leads_to(self, kept: Head | None) -> bool:
        if kept in (None, GENESIS):
            return kept is not None or self._head == GENESIS
        with speaking_of(self.path):
            row = self._connection.execute(_HASH_OF, (kept.seq,)).fetchone()
        return row is not None and as_hash(row[0]) == kept.hash
