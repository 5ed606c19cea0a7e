"""`make soak`: many sessions, an operator by chance, and everything that can break; see docs/maintaining/reports.md."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack

from tests.soak.command import again, bound, parser, print_laws, verdict
from tests.soak.judge import LAWS
from tests.soak.report import summary
from tests.soak.run import Soak
from tests.soak.schedule import NETWORK, Schedule, drawn
from tests.soak.surroundings import Surroundings, left_behind
from tests.support.isolation import isolated, why_not
from tests.support.requirements import REQUIRED

DISK = ("fill the disk",)


def main() -> int:
    """Run in namespaces of our own, where they can be had; 0 when nothing was wrong."""
    chosen = parser("tests.soak", __doc__, minutes=10).parse_args()
    if chosen.laws:
        print_laws(LAWS)
        return 0
    if chosen.schedule:
        return _print(drawn(chosen.seed, chosen.minutes))
    if chosen.apart:
        return soak(chosen.seed, chosen.minutes, apart=True)
    if (refusal := why_not()) is None:
        return subprocess.call(isolated([sys.executable, "-m", *again("tests.soak", chosen)]))
    left_out = ", ".join((*NETWORK, *DISK))
    print(f"no namespaces here ({refusal}); left out: packet loss, {left_out}", flush=True)
    if os.environ.get(REQUIRED) == "1":
        print(f"{REQUIRED} is set, so that is a failure")
        return 1
    return soak(chosen.seed, chosen.minutes, apart=False)


def soak(seed: int, minutes: float, *, apart: bool) -> int:
    """Run once and say how it went; what went wrong leaves its folder."""
    left_out = frozenset() if apart else frozenset((*NETWORK, *DISK))
    schedule = drawn(seed, minutes, without=left_out)
    print(f"soak: seed {seed}, {minutes:g} minutes")
    _print(schedule)
    began = time.monotonic()
    bound(minutes)
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
    return verdict(faults, around.folder, f"make soak SEED={seed} MINUTES={minutes:g}")


def _print(schedule: Schedule) -> int:
    for life in schedule.lives:
        print(f"  {life}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
