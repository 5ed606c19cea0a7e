"""A transaction: all of it or nothing, and every fault of SQLite's in a person's words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crabhook.store.faults import named


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Commit what is done inside, or leave no trace of it; faults become StoreErrors."""
    with speaking_of(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # the fault itself may have ended the transaction
                connection.execute("ROLLBACK")
            raise


@contextmanager
def speaking_of(path: Path) -> Iterator[None]:
    """Raise what SQLite raises inside as a StoreError about the file `path`."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise named(error, path) from error
