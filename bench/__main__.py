"""`python -m bench`: measure and print; docs/maintaining/reports.md says how to read it."""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from shutil import which
from time import perf_counter

from bench import decisions, export, growth, hooks, keys, screen, signing, start, waiting
from bench.figures import Goal, Measured, Series, goals_table
from bench.process import TOP, BenchError
from crabhook.install import program

GROWTH = "growth"
GROWTH_DRAWS_ON = ("waiting", "screen")
MEASURED: Mapping[str, Callable[[], Measured]] = {
    "hooks": hooks.measure,
    "signing": signing.measure,
    "start": start.measure,
    "waiting": waiting.measure,
    "decisions": decisions.measure,
    "export": export.measure,
    "keys": keys.measure,
    "screen": screen.measure,
}
SECTIONS = (*MEASURED, GROWTH)
"""The sections in the order in which they are measured."""
GOALS: Sequence[Goal] = [
    goal
    for section in (hooks, signing, start, waiting, decisions, export, keys, screen, growth)
    for goal in section.GOALS
]


def main() -> int:
    """Return 0, or 1 when a process did not do its work; slowness is no error."""
    only = _arguments().only
    try:
        _measure(chosen(only))
    except BenchError as error:
        sys.stderr.write(f"bench: {error}\nNo figure of this section is worth anything.\n")
        return 1
    return 0


def chosen(only: Collection[str]) -> Sequence[str]:
    """Return the sections to measure, all where none is named, and those that growth draws on."""
    wanted = {*(only or SECTIONS), *(GROWTH_DRAWS_ON if GROWTH in only else ())}
    return [name for name in SECTIONS if name in wanted]


def _measure(names: Sequence[str]) -> None:
    """Measure the sections, each after the other; print each table, the goals and the machine."""
    began, before = datetime.now(UTC), _load()
    _say(*(f"Note: {misgiving}." for misgiving in program.misgivings(program.interpreter())))
    figures: dict[Goal, float] = {}
    series: list[Series] = []
    for name in names:
        since = perf_counter()
        measured = growth.measure(series) if name == GROWTH else MEASURED[name]()
        _say("", f"{name}: {perf_counter() - since:.0f} s, load {_load()}", "", measured.text)
        figures |= measured.figures
        series += measured.series
    goals = [goal for goal in GOALS if goal in figures or len(names) == len(SECTIONS)]
    _say(
        goals_table(goals, figures),
        f"{began:%Y-%m-%d %H:%M} UTC, at {_commit()}, load {before} before and {_load()} after: "
        f"{_machine()}.\n",
    )


def _machine() -> str:
    """Return what the figures were taken on: without it nobody can judge a figure."""
    tools = {"node": "--version", "curl": "--version", "jq": "--version"}
    versions = [
        subprocess.run((path, option), capture_output=True, text=True, check=True).stdout  # noqa: S603 - on the PATH
        for name, option in tools.items()
        if (path := which(name))
    ]
    facts = (
        f"{os.cpu_count()} cores",
        platform.platform(),
        f"Python {platform.python_version()}",
        f"grpcio {version('grpcio')}",
        *(" ".join(printed.split()[:2]) for printed in versions),
    )
    return ", ".join(facts)


def _commit() -> str:
    described = subprocess.run(
        ("git", "describe", "--always", "--dirty"),  # noqa: S607 - the git of the PATH
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "no commit"


def _load() -> str:
    """Return how many processes wanted a core, on average of the last minute."""
    return f"{os.getloadavg()[0]:.1f}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SECTIONS,
        default=[],
        metavar="SECTION",
        help=f"measure these alone, and print: {', '.join(SECTIONS)}",
    )
    return parser.parse_args()


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
