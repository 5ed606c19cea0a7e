"""What a server remembers up to a number, so that a soak can make the number small."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.soak.watched import MEMORIES, SMALL

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("name", MEMORIES)
def test_every_memory_is_there_and_larger_than_it_is_made(name: str) -> None:
    module, _, constant = name.rpartition(".")
    assert getattr(import_module(module), constant) >= SMALL
