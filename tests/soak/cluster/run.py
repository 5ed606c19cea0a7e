"""A soak of a cluster from its first hook to its last: asks, breaks, waits, and judges."""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.soak.cluster.clients import RECONNECT, WAIT, Desks, Hooks, Reader
from tests.soak.cluster.history import Histories, SharedLedger, committed_at
from tests.soak.cluster.judge import broken_laws, lost_places
from tests.soak.cluster.nemesis import Nemesis
from tests.soak.cluster.schedule import CALM_BEFORE
from tests.soak.jobs import Source
from tests.soak.said import fallback
from tests.support.service import CRABHOOK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.soak.cluster.history import Straggler
    from tests.soak.cluster.site import Site
    from tests.soak.jobs import Job
    from tests.soak.schedule import Act

RATE, MOST = 6.0, 60  # hooks a second, and under way at once
REAL = 0.05  # the share of hooks that are the installed program
SETTLED = 10.0  # seconds after the last fault in which every hook finds its leader
ENDS_WITHIN = 60.0  # seconds from then on until the last has its answer


class ClusterSoak:
    """One run; afterwards its figures are to be read from it."""

    def __init__(self, site: Site, acts: Sequence[Act], seed: int) -> None:
        self._site, self._acts, self._seed = site, acts, seed
        self._nemesis = Nemesis(site)
        self._servers = tuple(site.servers.values())
        self._asking = True
        self._began = time.monotonic()
        self.seen: Histories | None = None
        self.audit = ""

    def run(self) -> list[str]:
        """Run all of it; return everything that was wrong."""
        with ExitStack() as ending:
            self._begin(ending)
            asks = threading.Thread(target=self._ask)
            asks.start()
            ending.callback(asks.join)
            ending.callback(self._ask_no_more)
            time.sleep(CALM_BEFORE)
            for act in self._acts:
                self._say(str(act))
                self._nemesis.do(act)
            self._nemesis.mend()
            self._say("the last fault is over")
            time.sleep(SETTLED)
            leader = self._site.led()
            stragglers = self._hooks.stragglers()
            self._say(f"{self._hooks.waiting} hooks wait; {leader.name} leads")
            self._ask_no_more()
            asks.join()
            self._wait_for_the_last()
        return self._judged(stragglers, self._site.machines.address[leader.name])

    def _begin(self, ending: ExitStack) -> None:
        for server in self._servers:
            server.start()
        self._site.led()
        self._reader = Reader(self._site.database.url())
        self._reader.start()
        ending.callback(self._reader.close)
        self._desks = Desks(self._site, str(self._seed))
        ending.callback(self._desks.close)
        self._hooks = Hooks(self._site)
        ending.callback(self._hooks.close)
        if not self._desks.sitting.wait(30):
            raise AssertionError("nobody sat down at a desk")

    def _ask(self) -> None:
        chance = random.Random(f"cluster {self._seed} asks")
        for job in _jobs(self._seed):
            time.sleep(chance.expovariate(RATE))
            while self._asking and self._hooks.waiting >= MOST:
                time.sleep(0.05)
            if not self._asking:
                return
            self._hooks.start(job)

    def _ask_no_more(self) -> None:
        self._asking = False

    def _wait_for_the_last(self) -> None:
        end = time.monotonic() + ENDS_WITHIN
        while self._hooks.waiting and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1.5)  # receipts, and the last news

    def _judged(self, stragglers: list[Straggler], leader: str) -> list[str]:
        url = self._site.database.url()
        faults = [
            *self._nemesis.faults,
            *(
                f"server {one.name} ended by itself: {one.ended}"
                for one in self._servers
                if one.ended
            ),
        ]
        server = self._site.servers["a"]
        done = subprocess.run(
            [CRABHOOK, "log", "verify", "--store", url],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=dict(server.environment),
        )
        self.audit = done.stdout.strip() or done.stderr.strip()
        if done.returncode:
            faults.append(f"crabhook log verify: exit code {done.returncode}: {self.audit}")
        self.seen = Histories(
            SharedLedger(url),
            committed_at(url),
            self._hooks.ended,
            self._hooks.started,
            self._desks.given,
            self._desks.news,
            self._reader.tail,
            stragglers,
            leader,
            self._nemesis.troubles,
        )
        faults += broken_laws(self.seen)
        if faults:
            self._write_down(self.seen)
        return faults

    def _write_down(self, seen: Histories) -> None:
        """Write what was seen beside the logs, for somebody to look at."""
        told = {
            "record": [f"{seen.committed.get(one.seq)} {one}" for one in seen.ledger.records],
            "given": [f"{name} {one}" for name, one in seen.given.items()],
            "hooks": [f"{one}" for one in seen.hooks],
            "heard": [f"{one}" for one in seen.heard],
        }
        for name, lines in told.items():
            (self._site.folder / f"seen-{name}").write_text("\n".join(lines), encoding="utf-8")

    def _say(self, text: str) -> None:
        print(f"{time.monotonic() - self._began:6.1f} s  {text}", flush=True)

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield what there is to tell of it, by name."""
        seen = self.seen
        if seen is None:
            return
        ends = Counter(fallback(one.printed) or "answered" for one in seen.hooks)
        yield "hooks", f"{len(seen.asked)}: {_counted(ends)}"
        yield "asked again, and answered", str(sum(len(one.replies) > 1 for one in seen.hooks))
        yield "decisions at desks", _counted(Counter(one.outcome for one in seen.given.values()))
        yield "records", f"{len(seen.ledger.records)}: {seen.ledger!r}"
        yield "news heard", _counted(Counter(one.server for one in seen.heard))
        yield "gaps told", _counted(lost_places(seen.heard))
        yield "audit", self.audit
        for server in self._servers:
            lines = server.log.read_text(encoding="utf-8").splitlines()
            yield f"lines in the log of {server.name}", str(len(lines))


def _counted(many: Counter[str]) -> str:
    return ", ".join(f"{count} {what or 'not heard'}" for what, count in many.most_common())


def _jobs(seed: int) -> Iterator[Job]:
    """Draw jobs without end, none of which gives up before the run does."""
    chance = random.Random(f"cluster {seed} jobs")
    source = Source(random.Random(f"cluster {seed}"))
    while True:
        for job in source.load(50, 1, patient=True):
            real = chance.random() < REAL
            yield replace(job, wait=WAIT, reconnect=RECONNECT, real=real, remote=True)
