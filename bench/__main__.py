"""`python -m bench`: measure, print, write results.json, draw latency.svg."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.errors import BenchError
from bench.found import Wishes
from bench.machine import busy, machine, misgivings
from bench.sections import SECTIONS, chosen, measured
from bench.sizes import SMALLEST, sized

RESULTS = Path(__file__).with_name("results.json")
PICTURE = Path(__file__).with_name("latency.svg")
DRAWN = "hooks"  # the section that the picture shows
WORTH_DRAWING = 40  # rounds


def main() -> int:
    """Return 0, or 1 when a process did not do its work; slowness is no error."""
    arguments = _arguments()
    try:
        if arguments.plot:
            _draw()
        else:
            _measure(chosen(arguments.only), Wishes(arguments.rounds, arguments.waiting))
    except BenchError as error:
        worth = "" if arguments.plot else "No figure of this section is worth anything.\n"
        sys.stderr.write(f"bench: {error}\n{worth}")
        return 1
    return 0


def _measure(names: Sequence[str], wishes: Wishes) -> None:
    facts = machine()
    _say(*(f"{name}: {fact}" for name, fact in facts.items()))
    _say(*(f"Note: {misgiving}." for misgiving in misgivings()))
    load, since = busy(), perf_counter()
    for name, found in measured(names, wishes):
        now = {"load before": load, "load after": busy(), "on": datetime.now(UTC).isoformat()}
        _say("", f"{name}: {perf_counter() - since:.0f} s, load {load} to {busy()}", "", found.text)
        # In the smallest size the figures are worth nothing: it shows that each section ends.
        if not SMALLEST:
            _keep(name, {"machine": facts | now, **found.values})
            _draw_where_worth(name, wishes.rounds)
        load, since = busy(), perf_counter()


def _draw_where_worth(section: str, rounds: int) -> None:
    """Draw the section that the picture shows, where it has rounds enough."""
    if section != DRAWN:
        return
    if rounds < WORTH_DRAWING:
        _say(f"{PICTURE.name} stays as it is: it shows {WORTH_DRAWING} rounds or more.")
    else:
        _draw()


def _draw() -> None:
    """Draw the picture from what is kept; say so where nothing here can draw."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if DRAWN not in kept:
        raise BenchError(f"there is nothing to draw yet: python -m bench --only {DRAWN}")
    try:
        from bench.plot import draw  # noqa: PLC0415 - figures can be had without matplotlib
    except ImportError as error:
        _say(f"{PICTURE.name} is not drawn: {error}; `make bench` installs what it takes.")
        return
    draw(kept[DRAWN], PICTURE)
    _say(f"{PICTURE.name} is drawn.")


def _keep(section: str, values: Mapping[str, Any]) -> None:
    """Put a section's figures among those of the others, which may be of another run."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    kept = {name: kept[name] for name in SECTIONS if name in kept} | {section: values}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SECTIONS,
        default=[],
        metavar="SECTION",
        help=f"measure these alone, of: {', '.join(SECTIONS)}",
    )
    parser.add_argument(
        "--plot",
        action="store_true",
        help=f"measure nothing: draw {PICTURE.name} from {RESULTS.name} as it is",
    )
    parser.add_argument(
        "--rounds",
        type=_at_least_two,
        default=sized(WORTH_DRAWING, 2),
        help="of the section hooks; default: %(default)s",
    )
    parser.add_argument(
        "--waiting",
        type=int,
        nargs="*",
        default=sized([1, 1_000, 10_000], [1, 20]),
        metavar="N",
        help="in the section waiting, let so many requests wait at once",
    )
    return parser.parse_args()


def _at_least_two(text: str) -> int:
    number = int(text)
    if number < 2:
        raise argparse.ArgumentTypeError("it takes two rounds to have a spread")
    return number


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
