"""An SQLite record's files: private, locked, opened, synced; and their faults in plain words."""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from time import time

from crabhook.safe_open import read_own
from crabhook.store.interface import (
    CorruptError,
    FullError,
    LockedError,
    ReadOnlyError,
    StoreError,
    TakenError,
)
from crabhook.store.record import Head
from crabhook.store.sqlite.tables import migrate
from crabhook.store.writer import head_line, read_head

DATABASE, HEAD, KEY, LOCK = "record.db", "record.head", "record.key", "record.lock"
KEY_BYTES = 32
READING, WRITING = "read", "written"

_BY_CODE: Mapping[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_FULL: (FullError, "the disk is full: make room"),
    sqlite3.SQLITE_BUSY: (LockedError, "another program holds it locked: end that program"),
    sqlite3.SQLITE_LOCKED: (LockedError, "another program holds it locked: end that program"),
    sqlite3.SQLITE_READONLY: (ReadOnlyError, "it may not be written: give it back to this user"),
    sqlite3.SQLITE_CANTOPEN: (ReadOnlyError, "it cannot be opened: see its folder's permissions"),
    sqlite3.SQLITE_PERM: (ReadOnlyError, "it may not be opened: give it back to this user"),
    sqlite3.SQLITE_CORRUPT: (CorruptError, "it is damaged: move it away and keep it"),
    sqlite3.SQLITE_NOTADB: (CorruptError, "it is no database: move it away and keep it"),
}

_BY_NUMBER: Mapping[int, tuple[type[StoreError], str]] = {
    errno.ENOSPC: (FullError, "the disk is full: make room"),
    errno.EDQUOT: (FullError, "this user's share of the disk is full: make room"),
    errno.EFBIG: (FullError, "the file may not grow: see this process's limits"),
    errno.EACCES: (ReadOnlyError, "it may not be written: give it back to this user"),
    errno.EPERM: (ReadOnlyError, "it may not be written: give it back to this user"),
    errno.EROFS: (ReadOnlyError, "it lies on a file system that may not be written"),
}


def named(
    error: sqlite3.Error | UnicodeDecodeError | OSError, path: Path, doing: str = WRITING
) -> StoreError:
    """Return the StoreError for `error`, met at `path` while `doing` it."""
    if isinstance(error, UnicodeDecodeError):  # from an SQLite message that quotes damaged text
        return CorruptError(f"the record {path} is damaged: move it away and keep it")
    if isinstance(error, OSError):
        kind, advice = _BY_NUMBER.get(error.errno or 0, (StoreError, str(error)))
        return kind(f"{path} was not {doing}: {advice}")
    primary = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    kind, advice = _BY_CODE.get(primary, (StoreError, f"{error}"))
    return kind(f"the record {path} was not {doing}: {advice}")


@contextmanager
def speaking_of(path: Path, doing: str = WRITING) -> Iterator[None]:
    """Turn errors of SQLite or the system in a block into StoreErrors about the file `path`."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        raise named(error, path, doing) from error


@contextmanager
def transaction(cursor: sqlite3.Cursor, path: Path) -> Iterator[None]:
    """Commit what the block does, or roll it back; faults become StoreErrors."""
    with speaking_of(path):
        cursor.execute("BEGIN IMMEDIATE")
        try:
            yield
            cursor.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # the fault itself may have ended the transaction
                cursor.execute("ROLLBACK")
            raise


_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class WriterLock:
    """The right to write the record beside `path`; held until released."""

    def __init__(self, path: Path) -> None:
        try:
            self._descriptor = os.open(path, _LOCK_FLAGS, 0o600)
        except OSError as error:
            wrong = f"the record's lock {path} cannot be made: {error.strerror}"
            raise ReadOnlyError(wrong) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise TakenError(
                f"another crabhook (process {holder or 'unknown'}) writes the record in "
                f"{path.parent}. Stop it, or give this server a state folder of its own "
                "(XDG_STATE_HOME)"
            ) from None
        with suppress(OSError):  # on a full disk, the lock has no holder's name
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock, once. The file stays: without it, two processes could lock."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


BUSY_MS = 100  # we are the only writer: another lock would last long, while agents wait
WAL_PAGES = 8000  # the log's length at which a write clears it, if no anchor did

_SETTINGS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "cache_size = -8000",  # kilobytes: the answers of 15 busy minutes
    "secure_delete = ON",  # waiting requests had secrets, and deleted records must be gone
    f"wal_autocheckpoint = {WAL_PAGES}",
    # No less than the log grows to: to cut it and let it grow again cost a third of each commit.
    f"journal_size_limit = {WAL_PAGES * 4200}",
    "trusted_schema = OFF",
)


def private(folder: Path) -> None:
    """Make the folder, readable by its owner alone. Raises a StoreError."""
    with speaking_of(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)


def connected(path: Path) -> sqlite3.Connection:
    """Return a connection for writing, with a private file and up-to-date tables."""
    with speaking_of(path):
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        connection = connect(path)
        try:
            if connection.execute("PRAGMA page_count").fetchone() == (0,):
                # Later it would write, and a full disk would break a read.
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}").fetchall()
            migrate(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """Return a bare connection; statements commit only where they say so."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    return connection


def synced(path: Path) -> int:
    """Sync a file that SQLite writes to the disk; return its size, 0 where there is none.

    Only for the log: closing any other file of SQLite's would drop this process's locks on it.
    """
    with speaking_of(path):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return 0
        try:
            os.fsync(descriptor)
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)


def load_key(path: Path) -> bytes:
    """Return the key in `path`; the first call makes a random key. Raises a StoreError."""
    with speaking_of(path):
        try:
            key = read_own(path, 1024)
        except FileNotFoundError:
            key = os.urandom(KEY_BYTES)
            put(path, key)
    if len(key) != KEY_BYTES:
        raise CorruptError(
            f"{path} is not {KEY_BYTES} bytes long. Move it away: marks made from then on will "
            "not match the older marks"
        )
    return key


def put(path: Path, content: bytes) -> None:
    """Write a small file so that a crash leaves the old or the new content; raises OSError.

    Two may write at once, each by a file of its own. A server that takes a record over keeps the
    head that it read and the head that it goes on from. Two servers on a machine may do so too.
    """
    beside = path.with_name(f"{path.name}.{token_hex(4)}.new")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


Identity = tuple[int, int] | None


def identity(path: Path) -> Identity:
    """Return which file is at `path`, and none where there is no file."""
    try:
        about = os.stat(path)  # noqa: PTH116 - before each commit, and half as slow
    except OSError:
        return None
    return about.st_dev, about.st_ino


def sweep(folder: Path, name: str, older: float = 0.0) -> None:
    """Remove what a process left that was killed in `put`, before it renamed its new file.

    `name` is the name of the file, and may have `*`. Where others may write it too, only what is
    `older` than so many seconds is removed.
    """
    before = time() - older
    with suppress(OSError):
        for path in folder.glob(f"{name}.{'[0-9a-f]' * 8}.new"):
            if path.lstat().st_mtime <= before:
                path.unlink()


class HeadFile:
    """The file `record.head`: a line of JSON, replaced whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Head | None:
        """Return the head in the file; None where there is none. Raises CorruptError."""
        try:
            return read_head(read_own(self._path, 1024).decode())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise CorruptError(f"{self._path} cannot be read as a head: {error}") from error

    def keep(self, head: Head) -> None:
        """Replace the head so that a crash leaves the old or the new head."""
        with speaking_of(self._path):
            put(self._path, head_line(head).encode("ascii"))
