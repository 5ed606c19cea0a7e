"""The laws of the few numbers that are printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.figures import exponent, last_exponent, paired_ratios, percentile, spread

pytestmark = pytest.mark.thorough

seconds = st.floats(min_value=1e-4, max_value=1e2)


def test_the_middle_half_is_that_of_the_sorted_values() -> None:
    found = spread([5.0, 1.0, 4.0, 2.0, 3.0])
    assert (found.low, found.median, found.high) == (2.0, 3.0, 4.0)


def test_one_value_is_its_own_spread() -> None:
    found = spread([7.0])
    assert (found.low, found.median, found.high) == (7.0, 7.0, 7.0)


def test_a_ratio_is_taken_within_its_round() -> None:
    assert paired_ratios([2.0, 20.0], [1.0, 10.0]) == [2.0, 2.0]


def test_a_round_that_only_one_of_two_ran_in_is_refused() -> None:
    with pytest.raises(ValueError, match="longer"):
        paired_ratios([1.0], [1.0, 2.0])


@given(st.lists(st.tuples(seconds, seconds, st.sampled_from([0.5, 1.0, 4.0])), min_size=1))
def test_what_slows_a_whole_round_changes_no_ratio(
    rounds: list[tuple[float, float, float]],
) -> None:
    quiet = paired_ratios([mine for mine, _, _ in rounds], [floor for _, floor, _ in rounds])
    busy = paired_ratios(
        [mine * load for mine, _, load in rounds], [floor * load for _, floor, load in rounds]
    )
    assert busy == quiet


@pytest.mark.parametrize(
    ("percent", "expected"), [(1, 1), (50, 50), (99, 99), (99.5, 100), (100, 100)]
)
def test_a_percentile_is_a_value_that_was_measured(percent: float, expected: int) -> None:
    assert percentile(range(100, 0, -1), percent) == expected


@given(st.lists(seconds, min_size=1), st.floats(min_value=0.1, max_value=100))
def test_a_percentile_leaves_no_more_above_it_than_it_says(
    values: list[float], percent: float
) -> None:
    found = percentile(values, percent)
    assert found in values
    assert sum(value > found for value in values) <= len(values) * (1 - percent / 100) + 1e-9


@given(st.floats(min_value=-2, max_value=3), st.floats(min_value=1e-9, max_value=1e3))
def test_the_exponent_of_a_power_is_that_power_whatever_it_is_multiplied_by(
    power: float, factor: float
) -> None:
    costs = {size: factor * size**power for size in (1, 10, 100, 5_000)}
    assert exponent(costs) == pytest.approx(power, abs=1e-6)
    assert last_exponent(costs) == pytest.approx(power, abs=1e-6)


def test_growth_that_has_only_begun_shows_in_the_last_two() -> None:
    costs = {size: 1.0 + size / 1000 for size in (10_000, 10, 100, 1_000)}
    assert exponent(costs) < 0.4
    assert last_exponent(costs) > 0.7


def test_one_size_tells_of_no_growth() -> None:
    with pytest.raises(ValueError, match="two sizes"):
        exponent({5: 1.0})
