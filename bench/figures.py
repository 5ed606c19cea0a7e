"""From many timings to the few numbers worth printing."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle half of some values: lower quartile, median, upper quartile."""

    low: float
    median: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Return the quartiles of `values`, of which there is at least one."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(low, median(values), high)


def paired_ratios(candidate: Sequence[float], yardstick: Sequence[float]) -> list[float]:
    """Divide each round's candidate by the yardstick of the same round.

    What slows a whole round down, as a busy neighbour does, slows both and
    falls out.  Raises ValueError when the two were not in the same rounds.
    """
    return [mine / floor for mine, floor in zip(candidate, yardstick, strict=True)]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest of `values` that `percent` percent of them do not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)  # rounded up
    return ordered[max(int(rank), 1) - 1]
