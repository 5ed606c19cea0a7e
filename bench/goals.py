"""The goals, as data: ratios of processes in the same round, so that they hold on any machine."""

from dataclasses import dataclass
from enum import StrEnum

NOTHING = "python -c pass"
NOTHING_AGAIN = "python -c pass, again"
NOTHING_ELSEWHERE = "python -c pass, new venv"
BARE = "python -I -S -c pass"
HELD = "installed hook, allowed"
OBSERVED = "installed hook, Stop observed"
CONSOLE = "console script, allowed"
TLS = "installed hook over TLS, allowed"
NAIVE = "grpcio stub client, allowed"


@dataclass(frozen=True, slots=True)
class Goal:
    """A candidate costs at most `bar` times its yardstick, and it would be good if `stretch`."""

    candidate: str
    yardstick: str
    bar: float
    stretch: float


GOALS = (
    Goal(HELD, NOTHING, 1.15, 1.02),
    Goal(OBSERVED, NOTHING, 1.15, 1.02),
    # What is installed beside crabhook for its development slows the first
    # yardstick, and not the installed hook, which imports no `site`.
    Goal(HELD, NOTHING_ELSEWHERE, 1.15, 1.02),
    Goal(OBSERVED, NOTHING_ELSEWHERE, 1.15, 1.02),
    Goal(CONSOLE, NOTHING, 1.40, 1.27),
    Goal(TLS, NOTHING, 4.0, 3.3),
    Goal(HELD, BARE, 1.5, 1.33),
    Goal(HELD, NAIVE, 0.15, 0.11),
)


class Verdict(StrEnum):
    """How a measured ratio stands to its goal."""

    STRETCH = "met, stretch too"
    MET = "met"
    MISSED = "missed"


def verdict(goal: Goal, ratio: float) -> Verdict:
    """Judge a ratio; one that only rounds to the goal has missed it."""
    if ratio <= goal.stretch:
        return Verdict.STRETCH
    return Verdict.MET if ratio <= goal.bar else Verdict.MISSED
