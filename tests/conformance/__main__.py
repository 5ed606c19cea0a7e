"""`make conformance`: run every cell against the real program; keep and print what came of it."""

from __future__ import annotations

import argparse
import asyncio
import sys

from tests.conformance.cell import Cell
from tests.conformance.cells import ALL
from tests.conformance.page import page, written
from tests.conformance.record import Record, key_of, read_record, write_record
from tests.conformance.run import Result, run_all
from tests.support import requirements


def told(result: Result) -> None:
    """Say on a line or more how a cell went."""
    print("ok  " if result.sound else "FAIL", result.cell.name, f"({result.cell.drive.where})")
    if result.sound:
        return
    if result.outcome.trouble:
        print(f"     trouble: {result.outcome.trouble}")
    for fact, seen in zip(result.cell.facts, result.seen, strict=True):
        print("    ", "seen:" if seen else "NOT SEEN:", fact.words)


def main() -> int:
    """Run; 0 when every cell went as it says, and then the record is kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("only", nargs="*", help="run only cells whose name holds one of these")
    parser.add_argument(
        "--verbose", action="store_true", help="show what was heard, and the screen"
    )
    parser.add_argument("--kept", action="store_true", help="run nothing: print the kept record")
    chosen = parser.parse_args()
    if chosen.kept:
        print(page(read_record(), ALL))
        return 0
    if lacks := requirements.missing():
        print("Claude Code cannot run here; missing: " + "; ".join(lacks), file=sys.stderr)
        return 1
    wanted = [
        one
        for one in ALL
        if isinstance(one, Cell)
        and (not chosen.only or any(word in one.name for word in chosen.only))
    ]
    results = asyncio.run(run_all(wanted, lambda result: _done(result, chosen.verbose)))
    if chosen.only:
        return 0 if all(result.sound for result in results) else 1
    if not all(result.sound for result in results):
        print("Nothing was kept: not every cell went as it says.", file=sys.stderr)
        return 1
    record = Record(
        requirements.installed_version() or "",
        {key_of(result.cell): written(result) for result in results},
    )
    write_record(record)
    print(page(record, ALL))
    return 0


def _done(result: Result, verbose: bool) -> None:
    told(result)
    if verbose:
        for one in result.outcome.heard:
            print("     ", one.name, one.tool, one.stdout, one.stderr, one.exit_code)
        print(result.outcome.screen or result.outcome.stdout)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
