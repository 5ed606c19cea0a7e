"""A folder for sockets, which must have short names."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.hook.peers import short_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path
