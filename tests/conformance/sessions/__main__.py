"""Run every session of every agent and version; compare with the record, or keep a new one."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from contextlib import suppress

from tests.conformance.sessions.play import Outcome
from tests.conformance.sessions.record import page, planned, read_record, rows_of, write_record
from tests.conformance.sessions.run import faults, run_all
from tests.support import requirements


def main() -> int:
    """Run; 0 where all went as the record has it, or where the record was written anew."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.sessions", description=__doc__
    )
    parser.add_argument("only", nargs="*", help="run only sessions that hold all of these words")
    parser.add_argument("--keep", action="store_true", help="write what is seen into the record")
    parser.add_argument("--kept", action="store_true", help="run nothing: print the kept record")
    chosen = parser.parse_args()
    if chosen.kept:
        print(page(read_record()))
        return 0
    wanted = [
        (session, edition)
        for session, edition in planned()
        if all(word in f"{edition}: {session.title}" for word in chosen.only)
    ]
    lacks = {lack for _, edition in wanted for lack in requirements.missing(edition)}
    if lacks:
        print("The agents cannot run here; missing: " + "; ".join(lacks), file=sys.stderr)
        return 1
    kept = {}
    with suppress(FileNotFoundError):
        kept = {row.key: row for row in read_record()[1]}

    def done(outcome: Outcome) -> None:
        wrong = faults(outcome, kept)
        took = f"{outcome.edition}: {outcome.session.title} ({outcome.seconds:.0f} s)"
        print("FAIL" if wrong else "ok  ", took, *(f"\n     {fault}" for fault in wrong))
        if outcome.trouble:
            print(outcome.screen[-2000:])
        sys.stdout.flush()

    began = time.monotonic()
    outcomes = asyncio.run(run_all(wanted, done))
    rows = [row for outcome in outcomes for row in rows_of(outcome)]
    print(f"{len(rows)} cells in {len(outcomes)} sessions, {time.monotonic() - began:.0f} s")
    if any(outcome.trouble for outcome in outcomes):
        return 1
    if chosen.keep:
        kept |= {row.key: row for row in rows}
        order = [
            (edition, session.title, cell.title)
            for session, edition in planned()
            for cell in session.cells
        ]
        write_record(kept[key] for key in order if key in kept)
        return 0
    return 1 if any(faults(outcome, kept) for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
