"""`make cluster-soak`: two servers over one PostgreSQL, and a nemesis; see docs/maintaining/reports.md."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import closing

from tests.soak.cluster.failover import Failover, Round, table, too_slow
from tests.soak.cluster.judge import LAWS
from tests.soak.cluster.run import ClusterSoak
from tests.soak.cluster.schedule import drawn
from tests.soak.cluster.site import Site
from tests.soak.command import again, bound, parser, print_laws, verdict
from tests.support.cluster import MISSING, programs
from tests.support.isolation import isolated, raise_loopback, why_not
from tests.support.requirements import REQUIRED


def main() -> int:
    """Run in namespaces of our own; 0 when nothing was wrong."""
    arguments = parser("tests.soak.cluster", __doc__, minutes=2)
    arguments.add_argument("--failover", type=int, metavar="ROUNDS", help="measure that instead")
    chosen = arguments.parse_args()
    if chosen.laws:
        print_laws(LAWS)
        return 0
    if chosen.schedule:
        for act in drawn(chosen.seed, chosen.minutes):
            print(f"  {act}")
        return 0
    if chosen.apart:
        raise_loopback()
        if chosen.failover:
            return failover(chosen.failover)
        return soak(chosen.seed, chosen.minutes)
    if refusal := _refusal():
        print(f"no cluster can be had here: {refusal}")
        return 1 if os.environ.get(REQUIRED) == "1" else 0
    command = [sys.executable, "-m", *again("tests.soak.cluster", chosen)]
    command += ["--failover", str(chosen.failover)] if chosen.failover else []
    return subprocess.call(isolated(command))


def _refusal() -> str | None:
    """Return why there can be no machines and no PostgreSQL of our own; None where there can."""
    if os.geteuid() != 0:
        return "it takes root: PostgreSQL is run by another user, on a disk of its own"
    return (None if programs() else MISSING) or why_not()


def soak(seed: int, minutes: float) -> int:
    """Run once and say how it went; what went wrong leaves its folder."""
    acts = drawn(seed, minutes)
    print(f"cluster-soak: seed {seed}, {minutes:g} minutes, {len(acts)} faults")
    began = time.monotonic()
    bound(minutes)
    with Site() as site:
        run = ClusterSoak(site, acts, seed)
        try:
            faults = run.run()
        except Exception as error:  # noqa: BLE001 - said below, with all that is known by then
            faults = [f"the soak itself broke off: {error!r}"]
        print(f"seed {seed}, {minutes:g} minutes, took {time.monotonic() - began:.0f} s:")
        for name, value in run.figures():
            print(f"  {name:<28} {value}")
        site.kept = bool(faults)
    return verdict(faults, site.folder, f"make cluster-soak SEED={seed} MINUTES={minutes:g}")


def failover(many: int) -> int:
    """Measure so many rounds of each way in which a leader goes; 0 where all are within limits."""
    found: list[Round] = []
    with Site() as site, closing(Failover(site)) as running:
        for one in running.rounds(many):
            found.append(one)
            told = f"the other decides after {one.other:.2f} s, with the list {one.listed:.2f} s"
            print(f"  {len(found):>3} {one.how:<8} {told}", flush=True)
    print(table(found))
    slow = too_slow(found)
    print(*slow, sep="\n")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
