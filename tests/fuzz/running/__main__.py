"""`make running MINUTES=1 SEED=1`: make lines, run those that rules allow, and fail on what they must not.

The same seed makes the same lines. Each hole is told when it is found, and put into `--holes FILE`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from tests.fuzz.running.cage import Cage, why_not
from tests.fuzz.running.evaluating import Varied, pairs
from tests.fuzz.running.hunt import MOST_TOLD, Hole, Hunt
from tests.fuzz.running.making import Maker, grammar, kinds, known, pictured


def main() -> int:
    """Do what the command line says; 1 where the law was broken, 2 where nothing can be run."""
    options = _options()
    if reason := why_not():
        print(f"Nothing was judged and nothing run: {reason}.")
        return 2
    with Cage() as cage:
        if cage.missing:
            print(f"not on this machine, and so not tried: {', '.join(cage.missing)}")
        if options.kinds:
            return _kinds(cage, options.kinds)
        hunt = Hunt(cage, _teller(options.holes), most_told=options.most)
        hunt.lines(known())
        hunt.thorough = False
        if options.pairs:
            hunt.only_read = True
            hunt.lines(pairs())
            hunt.lines(Varied(options.seed).lines(), options.minutes * 60)
        else:
            hunt.lines(Maker(options.seed).lines(), options.minutes * 30)
            hunt.only_read = True
            hunt.lines(Varied(options.seed).lines(), options.minutes * 30)
        print(hunt.tally)
        print(
            ", ".join(f"{name}: {count:,}" for name, count in sorted(hunt.tally.allowing.items()))
        )
    return 1 if hunt.tally.broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.running", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=MOST_TOLD, help="holes to make short and tell")
    parser.add_argument("--holes", type=Path)
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="every way to set in every place that evaluates, then varied",
    )
    parser.add_argument(
        "--kinds", type=int, metavar="LINES", help="so many lines of each kind: which are allowed?"
    )
    return parser.parse_args()


def _teller(file: Path | None) -> Callable[[Hole], None]:
    def tell(hole: Hole) -> None:
        print(hole, flush=True)
        if file is not None:
            with file.open("a", encoding="utf-8") as out:
                out.write(
                    f"{pictured(hole.line)}\t{hole.rules}\t{hole.shell}\t{'; '.join(hole.ran)}\n"
                )

    return tell


def _kinds(cage: Cage, count: int) -> int:
    """Tell of each kind whether a line of it breaks the law, and the shortest that does."""
    for kind in kinds():
        hunt = Hunt(cage, lambda _: None, most_told=3)
        rows = [row for row in grammar()[kind] if "⟨" not in row]
        hunt.lines([*rows, *islice(Maker(1, kind).lines(), count)])
        tally = hunt.tally
        least = min(tally.holes, key=lambda hole: len(hole.line), default=None)
        shown = f"{pictured(least.line)}  [{least.rules}, {least.shell}]" if least else "none"
        print(f"{kind}\t{tally.judged}\t{tally.allowed}\t{tally.broken}\t{shown}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
