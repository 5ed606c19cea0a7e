"""Who is compared, and the goals, as data.

Ratios of processes in the same round, so that they hold on any machine.
"""

from dataclasses import dataclass
from enum import StrEnum

TRUE = "/bin/true"
SHELL = "sh -c /bin/true"
NOTHING = "python -c pass"
NOTHING_AGAIN = "python -c pass, again"
NOTHING_ELSEWHERE = "python -c pass, new venv"
BARE = "python -I -S -c pass"
HELD = "installed hook, allowed"
OBSERVED = "installed hook, Stop observed"
PASSED = "installed companion, a call passed"
CONSOLE = "console script, allowed"
TLS = "installed hook over TLS, allowed"
NAIVE = "grpcio stub client, allowed"
NODE = "Node forwarder, Unix socket, allowed"
CURL = "curl to the HTTP door, allowed"
JQ = "sh and jq, a pattern allows"
UV = "uv run script, a pattern allows"
POST_KEPT = "HTTP, kept connection"
POST_NEW = "HTTP, new connection each"
POST_AGENT = "HTTP from Node, http.Agent"
POST_FETCH = "HTTP from Node, fetch"

FLOORS = (TRUE, SHELL, BARE, NOTHING, NOTHING_AGAIN, NOTHING_ELSEWHERE)
OURS = (OBSERVED, PASSED, HELD, CONSOLE, TLS)
POSTS = (POST_KEPT, POST_NEW, POST_AGENT, POST_FETCH)
INSTEAD = (NAIVE, NODE, CURL, JQ, UV)


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
    Goal(PASSED, NOTHING, 1.15, 1.02),
    # What is installed beside crabhook for its development slows the first
    # yardstick, and not the installed hook, which imports no `site`.
    Goal(HELD, NOTHING_ELSEWHERE, 1.15, 1.02),
    Goal(OBSERVED, NOTHING_ELSEWHERE, 1.15, 1.02),
    Goal(CONSOLE, NOTHING, 1.40, 1.27),
    Goal(TLS, NOTHING, 4.0, 3.3),
    Goal(HELD, BARE, 1.5, 1.33),
    Goal(HELD, NAIVE, 0.15, 0.11),
    Goal(HELD, NODE, 0.25, 0.16),
)


@dataclass(frozen=True, slots=True)
class Limit:
    """So many percent of a contender's calls take at most `bar` seconds, or `stretch`."""

    candidate: str
    percent: int
    bar: float
    stretch: float


# Seconds, where everything else is a ratio: no process is started that could be the yardstick.
LIMITS = (
    Limit(POST_KEPT, 50, 0.001, 0.000_3),
    Limit(POST_KEPT, 99, 0.005, 0.000_6),
)


class Verdict(StrEnum):
    """How a measured ratio stands to its goal."""

    STRETCH = "met, stretch too"
    MET = "met"
    MISSED = "missed"


def verdict(goal: Goal | Limit, found: float) -> Verdict:
    """Judge a ratio, or seconds; what only rounds to the goal has missed it."""
    if found <= goal.stretch:
        return Verdict.STRETCH
    return Verdict.MET if found <= goal.bar else Verdict.MISSED
