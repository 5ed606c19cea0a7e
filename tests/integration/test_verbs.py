"""The verbs against a real server: what they print is as the schemas say, and what they do happens."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from crabhook.desk.commands import BARE_DENIAL
from crabhook.server.address import UnixAddress
from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK
from tests.support.port import ask, connected, request
from tests.support.typist import Typist

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/verbs.schema.json").read_text())
PASSPHRASE = "correct horse battery staple"
DONE, TOO_LATE, CHANGED, NO_SERVER = 0, 3, 4, 7


def fits(name: str, told: object) -> None:
    schema = {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}
    Draft202012Validator(schema).validate(told)


class Machine:
    """One person's machine: a team of one, a server in the background, and verbs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"unix:{folder}/crabhook/crabhook.sock"
        home = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
        self.environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **home}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of a process that has no terminal."""
        return subprocess.run(
            [CRABHOOK, *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            start_new_session=True,
        )

    def typed(self, *words: str, passphrase: str = PASSPHRASE, times: int = 1) -> tuple[int, str]:
        """Run a command of a person who types the passphrase; return its code and what it says."""
        with Typist((CRABHOOK, *words), self.environment) as typist:
            for _ in range(times):
                typist.answer(": ", f"{passphrase}\n")
            code, said, wrong = typist.finish()
        return code, said + wrong

    def serve(self) -> None:
        """Found the team, and serve it on a port that is free."""
        code, said = self.typed("team", "init", times=2)
        assert code == 0, said
        started = self.run("up", "--alone", "600", "--operators", "127.0.0.1:0")
        assert started.returncode == 0, started.stderr
        status = json.loads(self.run("status", "--json").stdout)
        fits("status", status)
        # Desk and verbs find that port themselves: what is kept of the team says 7444.

    def ask(self, command: str, call: str) -> Client:
        about = {"tool_input": {"command": command}, "tool_use_id": call, "cwd": "/nowhere/shop"}
        return Client(self.address, sample("PreToolUse-Bash", **about))

    def pending(self) -> list[dict[str, Any]]:
        told = [
            json.loads(line)
            for line in self.run("pending", "--json", "--wait").stdout.split("\n")
            if line
        ]
        for one in told:
            fits("card", one)
        return told


@pytest.fixture
def machine() -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp(prefix="crabhook-verbs-", dir="/tmp"))
    here = Machine(folder)
    try:
        yield here
    finally:
        with suppress(subprocess.TimeoutExpired):
            here.run("down", "--yes")
        shutil.rmtree(folder)


@pytest.mark.thorough
def test_a_script_looks_denies_and_watches_and_a_person_approves(machine: Machine) -> None:
    assert machine.run("pending").returncode == NO_SERVER  # in no team
    machine.serve()
    asked = machine.ask("npm ci", "t1")
    (card,) = machine.pending()
    assert (card["number"], card["risk"]["level"]) == (1, "caution")

    refused = machine.run("allow", "1")
    assert refused.returncode == 1
    assert "there is no terminal" in refused.stderr
    code, said = machine.typed("allow", "1", "--seen", "0" * 64, times=0)
    assert (code, machine.pending()[0]["seen"]) == (CHANGED, card["seen"]), said
    code, said = machine.typed("allow", "1", "--seen", card["seen"])
    assert code == DONE, said
    assert "network" in said  # the risk is shown before the passphrase is asked for
    assert asked.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"

    late = machine.run("deny", "1")
    assert late.returncode == TOO_LATE
    assert "ALLOWED by" in late.stdout

    other = machine.ask("ls", "t2")
    assert machine.pending()
    refused = machine.run("deny", "2", "--reason", "not now")
    assert "there is no terminal" in refused.stderr  # a word to the model takes a person
    assert machine.run("deny", "2").returncode == DONE
    assert BARE_DENIAL in other.finish().stdout.decode()
    third = machine.ask("ls", "t3")
    assert machine.pending()
    assert machine.typed("deny", "3", "not now")[0] == DONE
    assert "not now" in third.finish().stdout.decode()

    for line in machine.run("log", "--team", socket.gethostname(), "--json").stdout.splitlines():
        fits("past", json.loads(line))
    assert machine.run("orders", "hold-all", "1d3f", "10m").returncode == DONE
    (line,) = machine.run("orders", "--json").stdout.splitlines()
    fits("order", json.loads(line))
    for line in machine.run("sessions", "--json").stdout.splitlines():
        fits("session", json.loads(line))
    assert machine.run("down").returncode == 0
    ended = machine.run("pending")
    assert (ended.returncode, ended.stdout) == (NO_SERVER, "")
    assert "start it with `crabhook up`" in ended.stderr


def watched(machine: Machine, *words: str, until: str) -> list[dict[str, Any]]:
    """Return what a watch tells until a line of that type came; it is killed then."""
    watch = subprocess.Popen(
        [CRABHOOK, "watch", "--json", *words],
        env=machine.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    told: list[dict[str, Any]] = []
    try:
        assert watch.stdout is not None
        for line in watch.stdout:
            told.append(json.loads(line))
            fits("watched", told[-1])
            if told[-1]["type"] == until:
                break
    finally:
        watch.send_signal(signal.SIGKILL)
        watch.communicate(timeout=60)
    return told


@pytest.mark.thorough
def test_a_watch_that_was_killed_goes_on_behind_its_cursor(machine: Machine) -> None:
    machine.serve()
    (first,) = watched(machine, until="snapshot")
    assert first["waiting"] == []
    asked = [machine.ask(f"npm run {n}", f"t{n}") for n in range(3)]
    cursor, numbers = first["cursor"], []
    for _ in asked:
        told = watched(machine, "--after", cursor, until="card")
        numbers.append(told[-1]["card"]["number"])
        cursor = told[-1]["cursor"]
        assert {one["type"] for one in told} <= {"card", "feed"}  # no second snapshot
    assert numbers == [1, 2, 3]
    assert machine.run("deny", "1", "2", "3", "--yes").returncode == DONE
    for one in asked:
        one.finish()


class Watcher:
    """`crabhook watch --json`, killed again and again; each goes on behind what was read whole."""

    def __init__(self, machine: Machine) -> None:
        self._machine, self.cursor = machine, ""
        self.snapshots, self.heard = 0, list[str]()

    def watch(self, seconds: float) -> None:
        """Watch for so long after the first line, and be killed."""
        after = ("--after", self.cursor) if self.cursor else ()
        with subprocess.Popen(
            [CRABHOOK, "watch", "--json", *after],
            env=self._machine.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        ) as watch:
            assert watch.stdout is not None
            try:
                lines = [watch.stdout.readline()]
                time.sleep(seconds)
            finally:
                watch.kill()
            lines += watch.stdout.readlines()
        for line in lines:
            if line.endswith(b"\n"):  # one that was cut off was not told
                self._take(json.loads(line))

    def _take(self, told: dict[str, Any]) -> None:
        self.cursor = told["cursor"]
        self.snapshots += told["type"] == "snapshot"
        if told["type"] == "feed" and told["event"] == "Notification":
            self.heard.append(told["session"])


class Teller(Thread):
    """Hooks that tell one thing after another, each by its session's name, until they are ended.

    The last is told after that, so that who watches then is told something.
    """

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self._machine, self.over, self.told = machine, Event(), 0
        self.start()

    def run(self) -> None:
        asyncio.run(self._tell())

    async def _tell(self) -> None:
        path = Path(self._machine.address.removeprefix("unix:"))
        async with connected(UnixAddress(path)) as channel:
            over = False
            while not over:
                over = self.over.is_set()
                about = {"hook_event_name": "Notification", "session_id": f"n{self.told}"}
                await ask(channel, request({**about, "message": "it goes on"}))
                self.told += 1
                await asyncio.sleep(0.02)


@pytest.mark.thorough
@pytest.mark.timeout(400)
def test_a_watch_that_is_killed_a_hundred_times_tells_all_and_nothing_twice(
    machine: Machine,
) -> None:
    machine.serve()
    watcher, chance = Watcher(machine), Random(15)
    watcher.watch(0.0)
    teller = Teller(machine)
    try:
        for _ in range(100):
            watcher.watch(chance.choice((0.0, 0.01, 0.1, 0.3)))
    finally:
        teller.over.set()
        teller.join()
    watcher.watch(1.0)
    assert watcher.snapshots == 1
    assert watcher.heard == [f"n{number}" for number in range(teller.told)]
    assert teller.told > 500
