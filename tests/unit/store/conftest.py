"""A store in a folder of the test's own, and what is written into it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.store.sqlite import SqliteStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the record is; not there yet."""
    return tmp_path / "state"


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    """An empty record, open for writing."""
    opened = SqliteStore(folder)
    yield opened
    opened.close()
