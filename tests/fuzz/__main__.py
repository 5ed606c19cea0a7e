"""The long run: `make fuzz MINUTES=5 TARGET=shell_line`; without a target, all of them in turn.

Each target has so many minutes. `--minimise` makes the committed corpus small and runs nothing;
`--replay FILE` takes one input in, with what it raises; `--targets` prints the laws.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.corpus import inputs_of
from tests.fuzz.longrun import Outcome, minimise, run
from tests.fuzz.target import load, names, words

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Do what the command line says; 1 where a law was broken."""
    options = _options()
    chosen = [options.target] if options.target else names()
    if options.targets:
        for name in chosen:
            print(f"{name:16} {len(inputs_of(name)):4} inputs kept. {words(name)}")
        return 0
    if options.replay:
        load(options.target).take(options.replay.read_bytes())
        print(f"{options.replay}: the law of {options.target} holds")
        return 0
    if options.minimise:
        for name in chosen:
            before, after = minimise(name)
            print(f"{name:16} {before:5} inputs, now {after}")
        return 0
    if find_spec("atheris") is None:
        print("atheris is not here: pip install --group fuzz, which has it for Linux")
        return 2
    return _all(chosen, options.minutes * 60)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="for each target")
    parser.add_argument("--target", default="", choices=["", *names()], metavar="TARGET")
    parser.add_argument("--targets", action="store_true", help="print each and its law")
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--replay", type=Path)
    options = parser.parse_args()
    if options.replay and not options.target:
        parser.error("--replay needs a --target")
    return options


def _all(chosen: Sequence[str], seconds: float) -> int:
    outcomes = []
    print(f"{'target':16} {'inputs':>10} {'a second':>9} {'edges':>6} {'corpus':>7} {'new':>4}")
    for name in chosen:
        outcomes.append(run(name, seconds))
        _tell(outcomes[-1])
    tried, took = sum(one.tried for one in outcomes), sum(one.seconds for one in outcomes)
    broken = [one for one in outcomes if one.told]
    print(f"{tried:,} inputs tried on {len(chosen)} targets in {took / 60:.1f} minutes; "
          f"{len(broken)} of them broken")  # fmt: skip
    return 1 if broken else 0


def _tell(one: Outcome) -> None:
    rate = one.tried / one.seconds if one.seconds else 0
    print(f"{one.name:16} {one.tried:10,} {rate:9,.0f} {one.edges:6} {one.kept:7} {one.new:4}")
    if one.told:
        print(one.told)
    if one.crash:
        path = one.crash.relative_to(ROOT)
        print(f"  the input is kept: python -m tests.fuzz --target {one.name} --replay {path}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
