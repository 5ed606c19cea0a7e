"""From many timings to the few numbers worth printing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import linear_regression, median, quantiles


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


def exponent(costs: Mapping[int, float]) -> float:
    """Return the power of the size with which the costs grow: the slope of a log-log fit.

    0 is a cost that does not grow, 1 one that doubles with the size.  Raises
    ValueError for fewer than two sizes, or for one that is not above 0.
    """
    points = [(log(size), log(cost)) for size, cost in costs.items()]
    if len(points) < 2:
        raise ValueError("it takes two sizes to see a growth")
    return linear_regression(*zip(*points, strict=True)).slope


def last_exponent(costs: Mapping[int, float]) -> float:
    """Return the same of the two largest sizes alone.

    What is the same at every size hides in the fit what has begun to grow.
    """
    return exponent({size: costs[size] for size in sorted(costs)[-2:]})
