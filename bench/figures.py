"""From many timings to the few numbers worth printing, and how these stand to the goals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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

    What slows a whole round down, as a busy neighbour does, slows both and falls out. Raises
    ValueError when the two were not in the same rounds.
    """
    return [mine / floor for mine, floor in zip(candidate, yardstick, strict=True)]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest of `values` that `percent` percent of them do not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)  # rounded up
    return ordered[max(int(rank), 1) - 1]


def exponent(costs: Mapping[int, float]) -> float:
    """Return the power of the size with which the costs grow: the slope of a log-log fit.

    0 is a cost that does not grow, 1 a cost that doubles with the size. Raises ValueError for
    fewer than two sizes, or for a size that is not above 0.
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


@dataclass(frozen=True, slots=True)
class Goal:
    """What is wanted of a figure: at most `bar` of its unit, or at least where `least`."""

    name: str
    bar: float
    unit: str = "times"
    least: bool = False

    def met(self, figure: float) -> bool:
        """Whether a figure meets it; what only rounds to the bar has missed it."""
        return figure >= self.bar if self.least else figure <= self.bar


@dataclass(frozen=True, slots=True)
class Series:
    """What an act costs as a size grows: seconds at each size, the smallest size first."""

    grows: str
    act: str
    costs: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a section measured: tables for people, the figures of its goals, series for the fit."""

    text: str
    figures: Mapping[Goal, float] = field(default_factory=dict)
    series: Sequence[Series] = ()


def goals_table(goals: Sequence[Goal], figures: Mapping[Goal, float]) -> str:
    """Return a row for each goal, and what was measured, with its verdict."""
    return table(
        ("goal", "unit", "bar", "measured", "verdict"),
        [_goal_row(goal, figures.get(goal)) for goal in goals],
    )


def _goal_row(goal: Goal, figure: float | None) -> tuple[str, ...]:
    bar = f"{'>=' if goal.least else '<='} {goal.bar:g}"
    if figure is None:
        return goal.name, goal.unit, bar, "-", "not measured"
    return goal.name, goal.unit, bar, _four_digits(figure), "met" if goal.met(figure) else "missed"


def _four_digits(figure: float) -> str:
    return f"{figure:.0f}" if figure >= 1000 else f"{figure:.4g}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table that also reads well as it is; its first column is of words."""
    columns = list(zip(header, *rows, strict=True))
    widths = [max(3, *map(len, column)) for column in columns]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "".join(_line(cells, widths) for cells in (header, rule, *rows))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return f"| {' | '.join(padded)} |\n"


def ms(seconds: float) -> str:
    """Return seconds as milliseconds."""
    return f"{seconds * 1e3:.2f}"


def ms_quartiles(middle: Spread) -> str:
    """Return the quartiles as milliseconds."""
    return f"{ms(middle.low)}-{ms(middle.high)}"
