"""`make soundness`: print what an attack found in commit 73c5562, and run the tests of each point."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby

import pytest

from tests.soundness import points


def main() -> int:
    """Print the points that were chosen, and run their tests; returns pytest's exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soundness", description=__doc__)
    parser.add_argument("only", nargs="*", type=int, help="the numbers of points; all without any")
    parser.add_argument("--list", action="store_true", help="print them and run nothing")
    options = parser.parse_args()
    chosen = [point for point in points() if not options.only or point.number in options.only]
    for part, of_part in groupby(chosen, lambda point: point.part):
        print(f"{part}:")
        for point in of_part:
            shown = ", ".join([*point.shown, *([f"found on {point.found}"] if point.found else [])])
            print(f"  {point.name}: {point.did} ({shown})")
    if options.list:
        return 0
    tests = sorted({test for point in chosen for test in point.tests})
    return pytest.main(["--numprocesses", "auto", *tests])


if __name__ == "__main__":
    sys.exit(main())
