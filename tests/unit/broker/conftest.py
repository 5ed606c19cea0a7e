"""Every test of the broker begins with an empty one."""

import pytest

from tests.support.playbook import Playbook


@pytest.fixture
def book() -> Playbook:
    return Playbook()
