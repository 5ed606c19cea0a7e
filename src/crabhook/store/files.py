"""The record's files: made for this user alone, opened, and brought safely to the disk."""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from crabhook.store import schema
from crabhook.store.faults import named
from crabhook.store.transaction import speaking_of

BUSY_MS = 100  # we are the only writer: who else holds it holds it long, and agents wait
WAL_PAGES = 8000  # the log's length at which a write clears it itself, should nobody anchor

_SETTINGS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = ON",  # what waited held secrets, and what retention removes is to be gone
    f"wal_autocheckpoint = {WAL_PAGES}",
    "journal_size_limit = 8000000",
    "trusted_schema = OFF",
)


def private(folder: Path) -> None:
    """Make the folder, for its owner alone.  Raises a StoreError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise named(error, folder) from error


def connected(path: Path) -> sqlite3.Connection:
    """Return a connection to write by, its file private and its tables up to date."""
    with suppress(FileExistsError):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            raise
        except OSError as error:
            raise named(error, path) from error
    with speaking_of(path):
        connection = connect(path)
        try:
            if connection.execute("PRAGMA page_count").fetchone() == (0,):
                # Later it would write, and fail on a full disk, where we only want to read.
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}").fetchall()
            schema.migrate(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """Return a bare connection; statements commit where they say so and nowhere else."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    return connection


def synced(path: Path) -> int:
    """Bring a file that SQLite writes to the disk; return its size, 0 where there is none.

    Only for the write-ahead log: closing any other file of SQLite's here
    would drop the locks that this process has on it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise named(error, path) from error
    try:
        os.fsync(descriptor)
        return os.fstat(descriptor).st_size
    except OSError as error:
        raise named(error, path) from error
    finally:
        os.close(descriptor)
