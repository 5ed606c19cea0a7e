"""A folder for sockets, which must have short names."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.unit.hook.peers import short_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


# A machine that does other things as well is no fault of an example's.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
