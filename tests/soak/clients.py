"""The hooks of a soak: the installed program as processes, and crowds of its code in threads."""

from __future__ import annotations

import base64
import fcntl
import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.soak.judge import Ending
from tests.soak.said import Printed
from tests.support.client import Client

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from tests.soak.jobs import Job

CROWDS = 3
ROOM = 1 << 20  # bytes that a hook may print; an allow repeats the call's input, which may be big
SHOT_WITHIN = 3.0  # seconds in which as many are found to be killed as are wanted, or fewer are


@dataclass
class Running:
    """A job under way."""

    job: Job
    began: float
    paused: float = 0.0


@dataclass
class Hook(Running):
    """A job that is a process of its own."""

    process: Client | None = None
    killed: bool = False


class Crowd:
    """A process of many hooks; `endings` grows as they end."""

    def __init__(self, endings: list[Ending]) -> None:
        self._endings = endings
        self.running: dict[int, Running] = {}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.crowd"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def start(self, job: Job, options: Sequence[str]) -> None:
        """Start a hook."""
        with self._lock:
            self.running[job.number] = Running(job, time.monotonic())
        told = {"number": job.number, "options": list(options), "payload": job.payload.decode()}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()

    def end(self, *, kill: bool) -> None:
        """Kill it with all its hooks, or let it end when they have."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if kill:
            self.process.kill()
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(30)
        self._reader.join(30)
        self.process.stdout.close()
        now = time.monotonic()
        for one in self.running.values():
            self._endings.append(Ending(one.job, one.began, now, None, killed=kill))
        self.running.clear()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.endswith("\n"):
                return  # it was killed in the middle of it: the hook had not printed all
            said = json.loads(line)
            streams = (base64.b64decode(said[name]) for name in ("stdout", "stderr"))
            with self._lock:
                one = self.running.pop(said["number"])
            printed = Printed(said["code"], *streams)
            self._endings.append(
                Ending(one.job, one.began, time.monotonic(), printed, paused=one.paused)
            )


@dataclass
class Clients:
    """All hooks, and how they ended; `local` and `remote` are the options that say where to ask."""

    local: Sequence[str]
    remote: Sequence[str]
    endings: list[Ending] = field(default_factory=list)
    started: set[int] = field(default_factory=set)
    shot: int = 0
    frozen: int = 0

    def __post_init__(self) -> None:
        self._hooks: list[Hook] = []
        self._crowds = [Crowd(self.endings) for _ in range(CROWDS)]
        self._lock = threading.RLock()  # jobs are started by one thread, and shot at by another

    @property
    def waiting(self) -> int:
        """How many have not ended, as far as is known."""
        return len(self._hooks) + sum(len(crowd.running) for crowd in self._crowds)

    def start(self, job: Job) -> None:
        """Start a hook."""
        where = self.remote if job.remote else self.local
        options = [*where, *job.options]
        with self._lock:
            self.started.add(job.number)
            if not job.real:
                self._crowds[job.number % CROWDS].start(job, options)
                return
            began = time.monotonic()
            process = Client(options[1], job.payload, *options[2:])
            _make_room(process)
            self._hooks.append(Hook(job, began, process=process))

    def gather(self) -> None:
        """Take in the answers of the processes that have ended."""
        with self._lock:
            ended = [hook for hook in self._hooks if _ended(hook)]
            self._hooks = [hook for hook in self._hooks if hook not in ended]
        for hook in ended:
            assert hook.process is not None
            answer = hook.process.finish()
            printed = Printed(answer.code, answer.stdout, answer.stderr.encode())
            killed = hook.killed and answer.code < 0
            self.endings.append(
                Ending(hook.job, hook.began, time.monotonic(), printed, killed, hook.paused)
            )

    def shoot_hooks(self, many: int, chance: random.Random) -> None:
        """Kill so many of the processes that wait, as there come to be some."""
        end = time.monotonic() + SHOT_WITHIN
        while many and time.monotonic() < end:
            with self._lock:
                for hook in self._some(min(many, 2), chance):
                    assert hook.process is not None
                    hook.process.kill()
                    hook.killed = True
                    self.shot += 1
                    many -= 1
            time.sleep(0.1)

    def shoot_the_ignored(self) -> None:
        """Kill the processes that nobody will answer."""
        with self._lock:
            for hook in self._hooks:
                if hook.job.wish == "ignore" and not _ended(hook):
                    assert hook.process is not None
                    hook.process.kill()
                    hook.killed = True
                    self.shot += 1

    def shoot_a_crowd(self, chance: random.Random) -> None:
        """Kill a crowd, and have another in its place."""
        place = chance.randrange(CROWDS)
        with self._lock:
            self.shot += len(self._crowds[place].running)
            self._crowds[place].end(kill=True)
            self._crowds[place] = Crowd(self.endings)

    def freeze_hooks(self, many: int, seconds: float, chance: random.Random) -> None:
        """Stop so many processes for a while."""
        with self._lock:
            hooks = self._some(many, chance)
        self._freeze([hook.process for hook in hooks if hook.process], list(hooks), seconds)

    def freeze_a_crowd(self, seconds: float, chance: random.Random) -> None:
        """Stop a crowd for a while."""
        crowd = chance.choice(self._crowds)
        self._freeze([crowd.process], list(crowd.running.values()), seconds)

    def close(self) -> None:
        """Let the crowds end by themselves, all of whose hooks have; kill what still waits."""
        for hook in self._hooks:
            assert hook.process is not None
            hook.process.kill()
            hook.process.finish()
        for crowd in self._crowds:
            crowd.end(kill=bool(crowd.running))

    def _some(self, many: int, chance: random.Random) -> Sequence[Hook]:
        alive = [hook for hook in self._hooks if not _ended(hook) and not hook.killed]
        return chance.sample(alive, min(many, len(alive)))

    def _freeze(
        self,
        processes: Sequence[subprocess.Popen[bytes] | subprocess.Popen[str]],
        running: Sequence[Running],
        seconds: float,
    ) -> None:
        self.frozen += len(running)
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        for one in running:
            one.paused += seconds
        for process in processes:
            process.send_signal(signal.SIGCONT)


def _make_room(process: Client) -> None:
    """Let a hook print all it has and end, though nobody reads that before it has ended."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        assert process.stdout is not None
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, ROOM)


def _ended(hook: Hook) -> bool:
    assert hook.process is not None
    return hook.process.poll() is not None
