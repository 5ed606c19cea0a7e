"""`make soak`: many sessions, an operator by chance, and everything that can break; see docs/maintaining/soak.md."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import NoReturn

from tests.soak.report import summary, told
from tests.soak.run import Soak
from tests.soak.schedule import NETWORK, Schedule, drawn
from tests.soak.surroundings import Surroundings, left_behind
from tests.support.isolation import isolated, why_not
from tests.support.requirements import REQUIRED

DISK = ("fill the disk",)

LONGEST = 2.0  # times the minutes, and then some: what takes longer hangs


def main() -> int:
    """Run in namespaces of our own, where they can be had; 0 when nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--schedule", action="store_true", help="print the schedule, and no more")
    parser.add_argument("--apart", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    seed = chosen.seed if chosen.seed is not None else random.SystemRandom().randrange(10**6)
    if chosen.schedule:
        return _print(drawn(seed, chosen.minutes))
    if chosen.apart:
        return soak(seed, chosen.minutes, apart=True)
    if (refusal := why_not()) is None:
        again = [sys.executable, "-m", "tests.soak", "--apart", "--seed", str(seed)]
        return subprocess.call(isolated([*again, "--minutes", str(chosen.minutes)]))
    left_out = ", ".join((*NETWORK, *DISK))
    print(f"no namespaces here ({refusal}); left out: packet loss, {left_out}", flush=True)
    if os.environ.get(REQUIRED) == "1":
        print(f"{REQUIRED} is set, so that is a failure")
        return 1
    return soak(seed, chosen.minutes, apart=False)


def soak(seed: int, minutes: float, *, apart: bool) -> int:
    """Run once and say how it went; what went wrong leaves its folder."""
    left_out = frozenset() if apart else frozenset((*NETWORK, *DISK))
    schedule = drawn(seed, minutes, without=left_out)
    print(f"soak: seed {seed}, {minutes:g} minutes")
    _print(schedule)
    began = time.monotonic()
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(int(LONGEST * minutes * 60 + 240))
    with Surroundings(seed, apart=apart) as around:
        run = Soak(schedule, around)
        faults: list[str] = []
        with ExitStack() as ending:
            ending.callback(run.look_at_the_wire)
            try:
                faults += run.run()
            except Exception as error:  # noqa: BLE001 - said below, with all that is known by then
                faults.append(f"the soak itself broke off: {error!r}")
        print(f"seed {seed}, {minutes:g} minutes:\n{summary(run, time.monotonic() - began)}")
        around.kept = bool(faults)
    if not faults:
        faults += [f"left behind: {one}" for one in left_behind(around.folder)] if apart else []
    if not faults:
        print("all laws held")
        return 0
    print(f"{len(faults)} faults:\n{told(faults)}")
    print(f"what is left of it: {around.folder}")
    print(f"again: make soak SEED={seed} MINUTES={minutes:g}")
    return 1


def _too_long(*_: object) -> NoReturn:
    raise TimeoutError("the soak took far longer than it was given")


def _print(schedule: Schedule) -> int:
    for life in schedule.lives:
        print(f"  {life}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
