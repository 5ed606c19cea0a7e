"""A store in SQLite alone."""

from pathlib import Path

import pytest


@pytest.fixture
def place(folder: Path) -> Path:
    """Where a record is; not there yet."""
    return folder
