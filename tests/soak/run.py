"""A soak from its first life to its last: asks, breaks, waits, and judges."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from tests.soak.chaos import Chaos
from tests.soak.clients import Clients
from tests.soak.desk import KeyPresser, PlainOperator
from tests.soak.judge import Case, Sitting, Trouble, broken_laws
from tests.soak.leaks import Measured, leaks, settled
from tests.soak.server import PATIENCE, Server
from tests.support.ledger import Ledger
from tests.support.service import CRABHOOK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.soak.jobs import Job
    from tests.soak.schedule import Life, Schedule
    from tests.soak.surroundings import Surroundings

ANSWERED_WITHIN = 100.0  # seconds until a load has its answers: no hook waits so long
AT_EASE, IN_TROUBLE = 24, 120  # jobs under way at once
SETTLED_WITHIN = 20.0  # seconds until the server has let go of what it held for them


class Soak:
    """One run; afterwards its figures are to be read from it."""

    def __init__(self, schedule: Schedule, around: Surroundings) -> None:
        self.schedule, self.around = schedule, around
        local = f"unix:{around.folder}/s"
        self.server = Server(around.folder, [local, around.remote], around.serving, around.inside)
        self.clients = Clients(["--server", local], around.asking)
        self.chaos = Chaos(self.server, self.clients, around.link)
        self.sittings: list[Sitting] = []
        self.measured: list[Measured] = []
        self.ended: list[str] = []
        self.faults: list[str] = []
        self.ledger: Ledger | None = None
        self.audit = ""
        self.frames = "no wire"
        self._jobs = {job.number: job for job in schedule.jobs}
        self._began = self._down_since = time.monotonic()

    def __repr__(self) -> str:
        return f"<Soak {len(self.ended)} lives, {len(self.clients.endings)} jobs ended>"

    def run(self) -> list[str]:
        """Run all of it; return everything that was wrong."""
        with ExitStack() as ending:
            ending.callback(self.server.close)
            ending.callback(self.clients.close)
            with self._living(self.schedule.steady):
                self._steady(self.schedule.steady)
            for life in self.schedule.troubled:
                with self._living(life):
                    self._troubled(life)
            with self._living(self.schedule.calm):
                self._calm(self.schedule.calm)
        return self._judged()

    @contextmanager
    def _living(self, life: Life) -> Iterator[None]:
        """Have a server, and somebody at its desk, for the block; then its end."""
        self._say(str(life))
        sat = Sitting(
            _last_record(self.around.state),
            chance_keys=life.desk == "full",
            holds=life.desk == "plain" and life.take_back > 0,
        )
        self.sittings.append(sat)
        self.server.begin(life)
        self.chaos.troubles.append(Trouble("no server", self._down_since, time.monotonic()))
        with self._at_the_desk(life, sat):
            yield
            self._down_since = time.monotonic()
            code = self.server.end(life.end)
        self.ended.append(life.end)
        if code != (-9 if life.end == "kill" else 0):
            self.faults.append(f"life {life.number} ended by {life.end} with exit code {code}")

    @contextmanager
    def _at_the_desk(self, life: Life, sat: Sitting) -> Iterator[None]:
        if life.desk == "headless":
            yield
            return
        plain = life.desk == "plain"
        who = (
            PlainOperator(self.server, life, self._jobs, sat)
            if plain
            else KeyPresser(self.server, life)
        )
        who.start()
        try:
            yield
        finally:
            who.left = True
            who.join()

    def _steady(self, life: Life) -> None:
        """Ask three loads, and measure what is held after each."""
        for load in life.loads:
            with self._asking(load, AT_EASE):
                pass
            self.clients.shoot_the_ignored()
            self._answered()
            held = self._settled()
            self.measured.append(Measured(len(load), held))
            self._say(f"  after {len(load)} jobs: {held}")

    def _troubled(self, life: Life) -> None:
        """Ask, and let things break meanwhile."""
        chance = random.Random(life.seed)
        link = self.around.link
        with ExitStack() as weather, self._asking(life.loads[0], IN_TROUBLE):
            if link and life.loss:
                weather.enter_context(self.chaos.trouble("loss", remote_only=True))
                link.order("loss", str(life.loss))
                weather.callback(link.order, "loss", "0")
            for act in life.acts:
                self.chaos.do(act, chance)

    def _calm(self, life: Life) -> None:
        """Let everything end: each hook, each card, and what is waited for of those that are gone."""
        began = time.monotonic()
        with self._asking(life.loads[0], AT_EASE):
            pass
        self._answered()
        time.sleep(max(0.0, began + PATIENCE + 1 - time.monotonic()))
        held = self._settled()
        if not settled(held):
            self.faults.append(f"the server still holds something for hooks that have gone: {held}")

    @contextmanager
    def _asking(self, load: Sequence[Job], most: int) -> Iterator[None]:
        """Start a load's jobs, each at its time, while the block runs; all are started at its end.

        No more than `most` are under way at once, so that a slow machine only takes longer.
        """
        asking = threading.Thread(target=self._ask, args=(load, most))
        asking.start()
        try:
            yield
        finally:
            asking.join()

    def _ask(self, load: Sequence[Job], most: int) -> None:
        began = time.monotonic()
        for job in load:
            while (early := began + job.at - time.monotonic()) > 0:
                self.clients.gather()
                time.sleep(min(early, 0.05))
            while self.clients.waiting >= most:
                self.clients.gather()
                time.sleep(0.02)
            self.clients.start(job)

    def _answered(self) -> None:
        """Wait until no hook waits."""
        end = time.monotonic() + ANSWERED_WITHIN
        while self.clients.waiting and time.monotonic() < end:
            self.clients.gather()
            time.sleep(0.05)

    def _settled(self) -> dict[str, int]:
        """Return what the server holds, once it holds nothing for any hook, or does not let go."""
        end = time.monotonic() + SETTLED_WITHIN
        before = self.server.counts()
        while time.monotonic() < end:
            time.sleep(0.3)
            held = self.server.counts()
            if settled(held) and held["descriptors"] == before["descriptors"]:
                return held
            before = held
        return before

    def _judged(self) -> list[str]:
        folder = self.around.state / "crabhook"
        self.ledger = Ledger(folder)
        done = subprocess.run(
            [CRABHOOK, "log", "verify"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=dict(self.server.environment),
        )
        self.audit = done.stdout.strip() or done.stderr.strip()
        if done.returncode:
            self.faults.append(f"crabhook log verify: exit code {done.returncode}: {self.audit}")
        case = Case(
            self.clients.endings,
            self.ledger,
            self.sittings,
            self.chaos.troubles,
            self.clients.started,
        )
        return [
            *self.faults,
            *self.chaos.unwritten,
            *leaks(self.measured),
            *broken_laws(case),
        ]

    def look_at_the_wire(self) -> None:
        """Read how many frames were carried, and how many were not."""
        if self.around.link is not None:
            count = self.around.link.order("count")
            self.frames = ", ".join(f"{many} {what}" for what, many in count.items())

    def _say(self, text: str) -> None:
        print(f"{time.monotonic() - self._began:6.1f} s  {text}", flush=True)


def _last_record(state: Path) -> int:
    """Return the number of the last record, while no server runs."""
    database = state / "crabhook" / "record.db"
    if not database.exists():
        return 0
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        found = opened.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()
    return int(found[0])
