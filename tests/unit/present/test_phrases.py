"""Times as a person reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.present.phrases import Clock, bar, lasting


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-3, "0:00"), (7.9, "0:07"), (750, "12:30"), (11100, "3:05:00"), (400_000, "4d")],
)
def test_a_length_of_time(seconds: float, shown: str) -> None:
    assert lasting(seconds) == shown


def test_an_earlier_moment_is_earlier_on_the_wall() -> None:
    clock = Clock(now=1000.0, wall=1_700_000_000.0)
    later, earlier = clock.of_day(1000.0), clock.of_day(940.0)
    assert later[:2] == earlier[:2] or later[-2:] == earlier[-2:]
    assert later != earlier


@given(st.floats(-1, 2), st.integers(1, 20))
def test_a_bar_has_its_length_and_never_hides_a_rest(part: float, length: int) -> None:
    shown = bar(part, length)
    assert len(shown) == length
    assert ("▓" in shown) == (part > 0)
    assert shown == "".join(sorted(shown, reverse=True))
