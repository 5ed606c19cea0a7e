"""The cage in which lines are run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fuzz.running.cage import Cage, why_not
from tests.support.requirements import leave_out


@pytest.fixture(scope="session")
def caged() -> None:
    """Leave the test out where no cage can be made; fail where one is required."""
    if reason := why_not():
        leave_out(reason)


@pytest.fixture(scope="module")
def cage(caged: None) -> Iterator[Cage]:
    """Return a cage of the module's own."""
    with Cage() as made:
        yield made
