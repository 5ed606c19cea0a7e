"""How the installed hook stands to what one would use in its place, and to posting by HTTP."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from bench.candidate import LeftOut
from bench.figures import Spread, paired_ratios, percentile, spread
from bench.goals import HELD, INSTEAD, LIMITS, POSTS, Limit, verdict
from bench.rounds import Runs
from bench.table import table

NOT_MEASURED = "not measured"


def instead_text(runs: Runs, left_out: Sequence[LeftOut]) -> str:
    """Return the ratios to every alternative that ran, and which of all contenders did not."""
    rows, ratios = [], _ratios(runs)
    for name in _ran(runs, INSTEAD):
        ratio = ratios[name]
        wall = spread([run.wall for run in runs[name]]).median
        quartiles = f"{ratio.low:.3f}-{ratio.high:.3f}"
        rows.append((name, f"{wall * 1e3:.1f}", f"{ratio.median:.3f}", quartiles))
    header = ("what one would use instead", "median ms", f"{HELD} / this", "quartiles")
    missing = "".join(f"Left out: {one.name}: {one.why}.\n" for one in left_out)
    return table(header, rows) + missing


def posts_text(runs: Runs) -> str:
    """Return what a call costs where no process is started, and how that stands to its limits."""
    rows = []
    for name in _ran(runs, POSTS):
        each = spread(calls(runs, name))
        found = {percent: percentile(calls(runs, name), percent) for percent in (50, 99)}
        of_round = paired_ratios(_walls(runs, HELD), _walls(runs, name))
        ratio = spread(of_round).median
        quartiles = f"{_ms(each.low)}-{_ms(each.high)}"
        rows.append((name, _ms(found[50]), quartiles, _ms(found[99]), f"{ratio:.1f}"))
    header = ("a POST, and no process", "p50 ms", "quartiles", "p99 ms", f"{HELD} / this")
    verdicts = "".join(f"{line}\n" for line in _limits(runs))
    return f"{table(header, rows)}{verdicts}"


def instead_values(runs: Runs, left_out: Sequence[LeftOut]) -> dict[str, Any]:
    """Return the same for programs, in seconds."""
    ratios = {name: asdict(ratio) for name, ratio in _ratios(runs).items()}
    limits = [
        asdict(limit) | {"found": found, "verdict": verdict(limit, found).value}
        for limit in LIMITS
        if (found := _found(runs, limit)) is not None
    ]
    return {
        "installed_hook_to": ratios,
        "limits": limits,
        "left_out": {one.name: one.why for one in left_out},
    }


def calls(runs: Runs, name: str) -> list[float]:
    """Return the seconds of every call a contender made."""
    return [seconds for run in runs[name] for seconds in run.each or (run.wall,)]


def _ratios(runs: Runs) -> dict[str, Spread]:
    held = _walls(runs, HELD)
    names = _ran(runs, (*INSTEAD, *POSTS))
    return {name: spread(paired_ratios(held, _walls(runs, name))) for name in names}


def _limits(runs: Runs) -> Iterator[str]:
    for limit in LIMITS:
        found = _found(runs, limit)
        word = NOT_MEASURED if found is None else f"{_ms(found)}: {verdict(limit, found).value}"
        yield f"{limit.candidate}, p{limit.percent} at most {limit.bar * 1e3:g} ms: {word}."


def _found(runs: Runs, limit: Limit) -> float | None:
    if limit.candidate not in runs:
        return None
    return percentile(calls(runs, limit.candidate), limit.percent)


def _ran(runs: Runs, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in runs]


def _walls(runs: Runs, name: str) -> list[float]:
    return [run.wall for run in runs[name]]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}"
