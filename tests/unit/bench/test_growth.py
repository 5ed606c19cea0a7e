"""The table of growth, from costs that were made up."""

from __future__ import annotations

from bench.found import Series
from bench.growth import growth_text


def test_each_series_has_its_costs_and_its_two_exponents() -> None:
    linear = Series("cards", "taking one in", {10: 0.001, 100: 0.01, 1000: 0.1, 10_000: 1.0})
    bent = Series("rules", "judging", {10: 0.001, 100: 0.001, 1000: 0.001, 10_000: 0.01})
    _, _, first, second = growth_text([linear, bent]).splitlines()
    assert "10: 1, 100: 10, 1000: 100, 10000: 1e+03" in first
    assert first.endswith("1.00 |            1.00 |")
    assert second.endswith("0.30 |            1.00 |")
