"""A store in a folder of the test's own, and what is written into it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.store.opening import open_writer
from crabhook.store.writer import Writer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the record is; not there yet."""
    return tmp_path / "state"


@pytest.fixture
def store(folder: Path) -> Iterator[Writer]:
    """An empty record, open for writing."""
    opened = open_writer(folder)
    yield opened
    opened.close()
