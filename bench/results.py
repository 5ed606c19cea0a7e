"""What a whole run of the bench found, as text for people and as values for results.json."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from bench.beside import NOT_MEASURED
from bench.figures import Spread, paired_ratios, spread
from bench.goals import GOALS, NOTHING, NOTHING_AGAIN, POSTS, Goal, verdict
from bench.process import Run
from bench.rounds import Runs
from bench.table import table
from bench.waiting import Waiting

KILL_GOAL = 0.050  # seconds until the server has seen that a hook was killed
MEMORY_GOAL = 60e3  # bytes for each request that waits
CALL_GOAL = 0.010  # seconds, p99 of another call meanwhile


def compared(runs: Runs) -> str:
    """Return what each process costs, and how that stands to the goals."""
    rows = []
    for name, its_runs in runs.items():
        if name in POSTS:
            continue  # no processes; bench.beside has them
        wall = spread([run.wall for run in its_runs])
        cpu = median(run.cpu for run in its_runs)
        rows.append((name, _ms(wall.median), f"{_ms(wall.low)}-{_ms(wall.high)}", _ms(cpu)))
    costs = table(("process, spawned to reaped", "median ms", "quartiles", "CPU ms"), rows)
    same = _ratio(runs, NOTHING_AGAIN, NOTHING)
    judged = [_judged(goal, runs) for goal in GOALS]
    noise = (f"{NOTHING_AGAIN} / {NOTHING}", *_quoted(same), "1", "-", "the noise")
    header = ("ratio, within each round", "median", "quartiles", "goal", "stretch", "verdict")
    return f"{costs}\n{table(header, [*judged, noise])}"


def waited(waiting: Sequence[Waiting], kills: Sequence[float]) -> str:
    """Return what it costs that requests wait, and how soon a killed hook is noticed."""
    return f"{_waiting(waiting)}\n{_kills(kills)}"


def compared_values(runs: Runs) -> dict[str, Any]:
    """Return the same for programs, in seconds."""
    return {
        "runs": {name: [_cost(run) for run in its_runs] for name, its_runs in runs.items()},
        "goals": [
            asdict(goal)
            | {"ratio": asdict(found := _ratio(runs, goal.candidate, goal.yardstick))}
            | {"verdict": verdict(goal, found.median).value}
            for goal in GOALS
            if {goal.candidate, goal.yardstick} <= runs.keys()
        ],
        "same_against_same": asdict(_ratio(runs, NOTHING_AGAIN, NOTHING)),
    }


def waited_values(waiting: Sequence[Waiting], kills: Sequence[float]) -> dict[str, Any]:
    """Return the same for programs, in seconds and bytes."""
    return {"waiting": [asdict(one) for one in waiting], "kills": list(kills)}


def _ratio(runs: Runs, candidate: str, yardstick: str) -> Spread:
    mine, floor = ([run.wall for run in runs[name]] for name in (candidate, yardstick))
    return spread(paired_ratios(mine, floor))


def _cost(run: Run) -> dict[str, Any]:
    cost = {"wall": run.wall, "cpu": run.cpu}
    return cost | {"each": list(run.each)} if run.each else cost


def _judged(goal: Goal, runs: Runs) -> tuple[str, ...]:
    pair = f"{goal.candidate} / {goal.yardstick}"
    bars = (f"<= {goal.bar:g}", f"{goal.stretch:g}")
    if not {goal.candidate, goal.yardstick} <= runs.keys():
        return (pair, "-", "-", *bars, NOT_MEASURED)
    found = _ratio(runs, goal.candidate, goal.yardstick)
    return (pair, *_quoted(found), *bars, verdict(goal, found.median).value)


def _quoted(found: Spread) -> tuple[str, str]:
    return f"{found.median:.3f}", f"{found.low:.3f}-{found.high:.3f}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"


def _waiting(waiting: Sequence[Waiting]) -> str:
    header = ("requests waiting", "all wait after", "server's memory", "each")
    rows = [
        (
            str(one.number),
            f"{one.until_all_wait:.2f} s",
            "?" if one.memory is None else f"{one.memory / 1e6:.0f} MB",
            _each(one),
            f"{one.observed_p50 * 1e3:.2f} / {one.observed_p99 * 1e3:.2f}",
            f"{one.decided_p50 * 1e3:.2f} / {one.decided_p99 * 1e3:.2f}",
        )
        for one in waiting
    ]
    calls = ("observed call p50 / p99 ms", "decided call p50 / p99 ms")
    most = max(waiting, key=lambda one: one.number)
    memory = most.memory_each is None or most.memory_each <= MEMORY_GOAL
    slowest = max(most.observed_p99, most.decided_p99)
    return (
        table((*header, *calls), rows)
        + f"Of {most.number}: at most {MEMORY_GOAL / 1e3:g} kB each: {met(memory)}; "
        f"another call's p99 at most {CALL_GOAL * 1e3:g} ms: {met(slowest <= CALL_GOAL)}.\n"
    )


def _each(one: Waiting) -> str:
    if one.memory_each is None or one.number == 1:  # one alone is less than a page or two
        return "-"
    return f"{one.memory_each / 1e3:.1f} kB"


def _kills(kills: Sequence[float]) -> str:
    return (
        f"A waiting hook killed (SIGKILL): seen by the server after {median(kills) * 1e3:.1f} ms, "
        f"at worst {max(kills) * 1e3:.1f} (median of {len(kills)}; goal <= {KILL_GOAL * 1e3:g}): "
        f"{met(median(kills) <= KILL_GOAL)}.\n"
    )


def met(is_met: bool) -> str:  # noqa: FBT001 - a predicate's outcome put into a word
    """Return the word for whether a goal was met."""
    return "met" if is_met else "missed"
