"""Faults of SQLite and of the file system, named as what a person can do something about."""

import errno
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from crabhook.store.errors import (
    CorruptError,
    FullError,
    LockedError,
    ReadOnlyError,
    StoreError,
)

_BY_CODE: Mapping[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_FULL: (FullError, "the disk is full; make room"),
    sqlite3.SQLITE_BUSY: (LockedError, "another program holds it locked; end that program"),
    sqlite3.SQLITE_LOCKED: (LockedError, "another program holds it locked; end that program"),
    sqlite3.SQLITE_READONLY: (ReadOnlyError, "it may not be written; give it back to this user"),
    sqlite3.SQLITE_CANTOPEN: (ReadOnlyError, "it cannot be opened; see its folder's permissions"),
    sqlite3.SQLITE_PERM: (ReadOnlyError, "it may not be opened; give it back to this user"),
    sqlite3.SQLITE_CORRUPT: (CorruptError, "it is damaged; move it away and keep it"),
    sqlite3.SQLITE_NOTADB: (CorruptError, "it is no database; move it away and keep it"),
}

_BY_NUMBER: Mapping[int, tuple[type[StoreError], str]] = {
    errno.ENOSPC: (FullError, "the disk is full; make room"),
    errno.EDQUOT: (FullError, "this user's share of the disk is full; make room"),
    errno.EFBIG: (FullError, "the file may not grow; see this process's limits"),
    errno.EACCES: (ReadOnlyError, "it may not be written; give it back to this user"),
    errno.EPERM: (ReadOnlyError, "it may not be written; give it back to this user"),
    errno.EROFS: (ReadOnlyError, "it lies on a file system that may not be written"),
}


def named(error: sqlite3.Error | UnicodeDecodeError | OSError, path: Path) -> StoreError:
    """Return the StoreError that says what `error`, met at `path`, means."""
    if isinstance(error, UnicodeDecodeError):  # of a message of SQLite's that quotes the damage
        return CorruptError(f"the record {path} is damaged; move it away and keep it")
    if isinstance(error, OSError):
        kind, advice = _BY_NUMBER.get(error.errno or 0, (StoreError, str(error)))
        return kind(f"{path} was not written: {advice}")
    primary = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    kind, advice = _BY_CODE.get(primary, (StoreError, f"{error}"))
    return kind(f"the record {path} was not written: {advice}")
