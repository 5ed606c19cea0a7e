"""`python -m bench`: measure, print, write results.json."""

import argparse
import json
import sys
from pathlib import Path

from bench.candidates import candidates
from bench.errors import BenchError
from bench.machine import busy, machine, misgivings
from bench.results import compared, values, waited
from bench.rounds import Runs, play
from bench.serving import running_server
from bench.waiting import Waiting, kill_some, let_wait
from crabhook.install.program import compile_hook

RESULTS = Path(__file__).with_name("results.json")


def main() -> int:
    """Return 0, or 1 when a process did not do its work; slowness is no error."""
    arguments = _arguments()
    try:
        return _measure(arguments.rounds, arguments.waiting)
    except BenchError as error:
        sys.stderr.write(f"bench: {error}\nNo figure of this run is worth anything.\n")
        return 1


def _measure(rounds: int, waiting: list[int]) -> int:
    facts = machine() | {"load before": busy()}
    _say(*(f"{name}: {fact}" for name, fact in facts.items()))
    _say(*(f"Note: {misgiving}." for misgiving in misgivings()))
    _say(f"{rounds} rounds, each in an order drawn anew ...")
    runs, receipts = _compare(rounds)
    _say(receipts, "", compared(runs))
    held, kills = _hold(waiting), kill_some() if waiting else []
    if waiting:
        _say(waited(held, kills))
    facts |= {"load after": busy(), "receipts": receipts}
    _say(f"Load before and after: {facts['load before']}, {facts['load after']}.")
    found = {"machine": facts} | values(runs, held, kills)
    RESULTS.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


def _compare(rounds: int) -> tuple[Runs, str]:
    """Return the runs, and what the server says about the replies' receipts."""
    compile_hook()  # as the installer does
    with running_server() as server:
        runs = play(candidates(server), rounds, server.environment)
        server.told.end()
        decided, _, delivered = server.told.line("decided")
    return runs, f"The operator decided {decided} calls; for {delivered} a receipt came back."


def _hold(numbers: list[int]) -> list[Waiting]:
    held = []
    for number in numbers:
        one = let_wait(number)
        if one.number < number:
            _say(f"Note: this system's file limit lets {one.number} wait, not {number}.")
        held.append(one)
    return held


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=_at_least_two, default=40, help="default: 40")
    parser.add_argument(
        "--waiting",
        type=int,
        nargs="*",
        default=[1, 1_000, 10_000],
        metavar="N",
        help="let so many requests wait at once; give none to leave this out",
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
