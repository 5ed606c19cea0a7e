"""The clients of a cluster as the soak sees them: the hooks', the desks' machine, a reader of the record."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import asyncpg

from crabhook.store.interface import StoreError
from crabhook.store.postgres.connection import connect
from tests.soak.cluster.history import Given, Heard, HookEnd, Straggler
from tests.soak.cluster.site import DESKS, DESKS_PORT, HOOKS, SERVERS, WATCHER
from tests.soak.said import Printed
from tests.support.isolation import ending_with_us

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.soak.cluster.site import Site
    from tests.soak.jobs import Job

WAIT, RECONNECT = 600.0, 120.0  # seconds that a hook waits, longer than any run; as installed
NEW = 4.0  # seconds in which a hook that has just begun need not be taken yet
READ_EVERY = 0.5  # seconds
_TAIL = "SELECT seq, hash FROM record WHERE seq > $1 ORDER BY seq"


class _Talking:
    """A process on one of the machines, whose lines are taken in by a thread."""

    def __init__(self, site: Site, machine: str, module: str) -> None:
        command = [sys.executable, "-m", f"tests.soak.cluster.{module}"]
        self.process = subprocess.Popen(
            ending_with_us(site.machines.on_network_of(machine, *command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def say(self, told: Any) -> None:
        """Send it a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        """Let it end, or end it."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait(10)
        self._reader.join(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):
                self.heard(json.loads(line))

    def heard(self, told: dict[str, Any]) -> None:
        """Take in a line."""
        raise NotImplementedError


class Hooks(_Talking):
    """The hooks' machine; `ended` grows as they end."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._running: dict[int, tuple[Job, float]] = {}
        self._answer: dict[str, Any] | None = None
        self.ended: list[HookEnd] = []
        self.started: set[int] = set()
        super().__init__(site, HOOKS, "crowd")

    @property
    def waiting(self) -> int:
        """How many have not ended, as far as is known."""
        return len(self._running)

    def start(self, job: Job, servers: Sequence[str] = SERVERS) -> None:
        """Start a hook that asks these servers, in their order."""
        self.started.add(job.number)
        self._running[job.number] = (job, time.monotonic())
        payload = job.payload.decode()
        options = [*self._site.asking(servers), *job.options]
        again = job.number % 4 == 0
        told = {"number": job.number, "options": options, "payload": payload}
        self.say(told | {"real": job.real, "again": again})

    def heard(self, told: dict[str, Any]) -> None:
        """Take in how a hook ended, or where they wait."""
        if "where" in told:
            self._answer = told["where"]
            return
        job, began = self._running.pop(told["number"])
        streams = (base64.b64decode(told[name]) for name in ("stdout", "stderr"))
        printed = Printed(told["code"], *streams)
        replies = tuple((who, what) for who, what in told["replies"])
        end = time.monotonic()
        self.ended.append(HookEnd(job, began, end, told["at"], printed, replies))

    def stragglers(self) -> list[Straggler]:
        """Ask where those wait that have waited for a while; of programs only time will tell."""
        before = {
            number: job
            for number, (job, began) in tuple(self._running.items())
            if began < time.monotonic() - NEW and not job.real
        }
        self._answer = None
        self.say("where")
        found = self._answered(time.monotonic() + 10)
        return [Straggler(number, *found[str(number)]) for number in before if str(number) in found]

    def _answered(self, end: float) -> dict[str, Any]:
        while time.monotonic() < end:
            if self._answer is not None:
                return self._answer
            time.sleep(0.02)
        return {}


class Desks(_Talking):
    """The desks' machine: what people decided there, and what watchers heard."""

    def __init__(self, site: Site, seed: str) -> None:
        self.given: dict[str, Given] = {}
        self.news: list[Heard] = []
        self.sitting = threading.Event()
        super().__init__(site, DESKS, "desks")
        people = {
            name: {"certificate": certificate.decode(), "key": key.decode()}
            for name, (certificate, key) in site.people.items()
        }
        places = {name: f"{site.machines.address[name]}:{DESKS_PORT}" for name in site.servers}
        authority = site.authority.read_text()
        told = {"servers": places, "people": people, "authority": authority}
        self.say(told | {"seed": seed, "watcher": WATCHER})

    def heard(self, told: dict[str, Any]) -> None:
        """Take in what was done or heard."""
        match told.pop("what"):
            case "decide":
                command = told.pop("id")
                self.given[command] = Given(**told)
            case "outcome":
                given = self.given[told["id"]]
                given.outcome, given.why = told["is_"], told["why"]
            case "heard":
                fields = Heard.__dataclass_fields__
                self.news.append(Heard(**{key: told[key] for key in fields if key in told}))
            case "sitting":
                self.sitting.set()


class Reader(threading.Thread):
    """Reads the record as it grows, straight from the database; `tail` is what it saw come."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._over = threading.Event()
        self.tail: list[tuple[int, str]] = []

    def run(self) -> None:
        """Read until it is closed; where the database is away, again."""
        asyncio.run(self._read())

    def close(self) -> None:
        """Read no more."""
        self._over.set()
        self.join(20)

    async def _read(self) -> None:
        away = (StoreError, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
        while not self._over.is_set():
            with suppress(*away):
                connection = await connect(self._url)
                try:
                    await self._follow(connection)
                finally:
                    connection.terminate()
            await asyncio.sleep(READ_EVERY)

    async def _follow(self, connection: Any) -> None:
        while not self._over.is_set():
            last = self.tail[-1][0] if self.tail else 0
            rows = await connection.fetch(_TAIL, last)
            self.tail += [(row["seq"], bytes(row["hash"]).hex()) for row in rows]
            await asyncio.sleep(READ_EVERY)
