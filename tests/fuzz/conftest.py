"""The cage in which lines are run."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.fuzz.running.cage import Cage, why_not
from tests.support.requirements import REQUIRED


@pytest.fixture(scope="session")
def caged() -> None:
    """Leave the test out where no cage can be made; fail where one is required."""
    if reason := why_not():
        (pytest.fail if os.environ.get(REQUIRED) == "1" else pytest.skip)(reason)


@pytest.fixture(scope="module")
def cage(caged: None) -> Iterator[Cage]:
    """Return a cage of the module's own."""
    with Cage() as made:
        yield made
