"""`python -m bench`: measure, print, and after a whole run write the first table into the page."""

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

from bench import decisions, growth, hooks, keys, screen, start, waiting
from bench.figures import Goal, Measured, Series, goals_table
from bench.inputs import SMALLEST
from bench.process import TOP, BenchError
from crabhook.install import program

PAGE = TOP / "docs" / "maintaining" / "performance.md"
GROWTH = "growth"
GROWTH_DRAWS_ON = ("waiting", "screen")
MEASURED: Mapping[str, Callable[[], Measured]] = {
    "hooks": hooks.measure,
    "start": start.measure,
    "waiting": waiting.measure,
    "decisions": decisions.measure,
    "keys": keys.measure,
    "screen": screen.measure,
}
SECTIONS = (*MEASURED, GROWTH)
"""The sections in the order in which they are measured."""
GOALS: Sequence[Goal] = [
    goal
    for section in (hooks, start, waiting, decisions, keys, screen, growth)
    for goal in section.GOALS
]
MACHINE, GOALS_BLOCK = "machine", "goals"
BLOCKS = (MACHINE, "hooks")
"""The blocks of the page that a whole run writes; it prints all of them and the goals."""


def main() -> int:
    """Return 0, or 1 when a process did not do its work; slowness is no error."""
    only = _arguments().only
    try:
        blocks = _measure(chosen(only))
    except BenchError as error:
        sys.stderr.write(f"bench: {error}\nNo figure of this section is worth anything.\n")
        return 1
    # In the smallest size the figures are worth nothing: it shows that each section ends.
    if not only and not SMALLEST:
        page = PAGE.read_text(encoding="utf-8")
        of_page = {name: blocks[name] for name in BLOCKS}
        PAGE.write_text(with_blocks(page, of_page), encoding="utf-8")
        _say(f"Written into {PAGE.relative_to(TOP)}.")
    return 0


def chosen(only: Collection[str]) -> Sequence[str]:
    """Return the sections to measure, all where none is named, and those that growth draws on."""
    wanted = {*(only or SECTIONS), *(GROWTH_DRAWS_ON if GROWTH in only else ())}
    return [name for name in SECTIONS if name in wanted]


def with_blocks(page: str, blocks: Mapping[str, str]) -> str:
    """Return the page with each block anew between its two marks; raises KeyError without them."""
    for name, text in blocks.items():
        before, begin, rest = page.partition(f"<!-- bench: {name} -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->")
        if not end:
            raise KeyError(f"the page has no place for {name}")
        page = f"{before}{begin}\n{text}\n{end}{after}"
    return page


def _measure(names: Sequence[str]) -> Mapping[str, str]:
    """Measure the sections, each after the other; return the blocks of the page."""
    began, before = datetime.now(UTC), _load()
    _say(*(f"Note: {misgiving}." for misgiving in program.misgivings(program.interpreter())))
    blocks: dict[str, str] = {}
    figures: dict[Goal, float] = {}
    series: list[Series] = []
    for name in names:
        since = perf_counter()
        measured = growth.measure(series) if name == GROWTH else MEASURED[name]()
        _say("", f"{name}: {perf_counter() - since:.0f} s, load {_load()}", "", measured.text)
        figures |= measured.figures
        series += measured.series
        blocks[name] = measured.text
    goals = [goal for goal in GOALS if goal in figures or len(names) == len(SECTIONS)]
    blocks[GOALS_BLOCK] = goals_table(goals, figures)
    blocks[MACHINE] = (
        f"{began:%Y-%m-%d %H:%M} UTC, at {_commit()}, load {before} before and {_load()} after: "
        f"{_machine()}.\n"
    )
    _say(blocks[GOALS_BLOCK], blocks[MACHINE])
    return blocks


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
