"""Inputs of a wanted size, and what they cost."""

from __future__ import annotations

import json

import pytest

from bench import goals, inputs
from bench.errors import BenchError


@pytest.mark.parametrize("size", inputs.SIZES)
def test_a_call_has_exactly_the_size_that_is_wanted(size: int) -> None:
    call = inputs.call_of(size)
    assert len(call) == size
    assert json.loads(call)["tool_name"] == "Write"


def test_a_size_below_that_of_a_call_is_refused() -> None:
    with pytest.raises(BenchError, match="the least call"):
        inputs.call_of(10)


@pytest.mark.process
def test_every_size_goes_through_the_installed_hook_and_by_http() -> None:
    series = inputs.measure(rounds=1)
    assert [one.what for one in series] == [goals.HELD, goals.POST_KEPT]
    for one in series:
        assert tuple(one.costs) == inputs.SIZES
        assert all(seconds > 0 for seconds in one.costs.values())
