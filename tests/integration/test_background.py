"""`crabhook up`, `status` and `down`: a server that outlives the terminal it was started in."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest

from crabhook.remote.desk import OPTIONS, RemoteDesk
from crabhook.team.desk_keys import desk_folders
from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK
from tests.support.presence import RIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator


class Machine:
    """A person's machine: a home and a folder for sockets of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"unix:{folder}/crabhook/crabhook.sock"
        self.environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
        }

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [CRABHOOK, *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def machine() -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp(prefix="crabhook-up-", dir="/tmp"))
    here = Machine(folder)
    try:
        yield here
    finally:
        with suppress(subprocess.TimeoutExpired):
            here.run("down")
        shutil.rmtree(folder)


def test_a_server_in_the_background_tells_how_it_is_and_ends_when_told(machine: Machine) -> None:
    nobody = machine.run("status", "--json")
    assert nobody.returncode == 7
    assert json.loads(nobody.stdout)["running"] is False

    started = machine.run("up", "--alone", "0.5", "--otherwise", "deny")
    assert started.returncode == 0, started.stderr
    assert "nobody is at a desk" in started.stdout
    again = machine.run("up")
    assert again.returncode == 0
    assert "runs already" in again.stdout

    status = machine.run("status", "--json")
    told = json.loads(status.stdout)
    assert status.returncode == 0
    assert str(told["pid"]) in started.stdout
    assert {**told, "pid": 0} == {
        "running": True,
        "pid": 0,
        "waiting": 0,
        "desks": 0,
        "listening": [machine.address],
        "role": "alone",
    }

    left = Client(machine.address, sample("PreToolUse-Bash", cwd="/nowhere/project")).finish()
    decided = left.output["hookSpecificOutput"]
    assert decided["permissionDecision"] == "deny"
    assert "nobody has been at a desk for 0.5 s" in decided["permissionDecisionReason"]

    ended = machine.run("down")
    assert ended.returncode == 0
    assert str(told["pid"]) in ended.stdout
    assert machine.run("status").returncode == 7
    assert not list((machine.folder / "crabhook").iterdir())
    assert machine.run("down").stdout == "No server runs: nothing was done.\n"


def test_a_server_that_cannot_start_says_why_and_leaves_none(machine: Machine) -> None:
    started = machine.run("up", "--listen", "203.0.113.7:7777")
    assert started.returncode == 1
    assert "needs TLS" in started.stderr
    assert "serve.log" in started.stderr
    assert machine.run("status").returncode == 7


PROMPTS = (b"Passphrase of the team: ", b"The same again: ")


def typed(machine: Machine, command: str, *answers: str) -> str:
    """Run a command in a terminal of its own; type an answer at each prompt; return all shown."""
    with subprocess.Popen(
        ["script", "-qec", command, "/dev/null"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=machine.environment | {"SHELL": "/bin/sh"},
        start_new_session=True,
    ) as there:
        assert there.stdin is not None
        assert there.stdout is not None
        shown = b""
        for prompt, answer in zip(PROMPTS, answers, strict=False):
            while prompt not in shown:
                piece = os.read(there.stdout.fileno(), 4096)
                assert piece, shown
                shown += piece
            there.stdin.write(f"{answer}\n".encode())
            there.stdin.flush()
        shown += there.stdout.read()
        there.stdin.close()
    assert there.returncode == 0, shown
    return shown.decode()


@pytest.mark.skipif(shutil.which("script") is None, reason="there is no `script` here")
async def test_one_person_on_one_machine_has_a_desk_and_knows_nothing_of_certificates(
    machine: Machine,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        place = f"127.0.0.1:{line.getsockname()[1]}"
    up = f"{CRABHOOK} up --operators {place}"
    shown = await asyncio.to_thread(typed, machine, up, RIGHT, RIGHT)
    assert "crabhook runs" in shown
    assert RIGHT not in shown
    told = json.loads(machine.run("status", "--json").stdout)
    assert f"{place} for desks" in told["listening"]
    (folder,) = desk_folders(machine.folder / ".config" / "crabhook")
    assert folder.facts().server == place
    authority, key, certificate = folder.opened(RIGHT)
    credentials = grpc.ssl_channel_credentials(authority, key, certificate)
    async with grpc.aio.secure_channel(place, credentials, options=OPTIONS) as channel:
        desk = RemoteDesk(channel, time.monotonic)
        running = asyncio.ensure_future(desk.run())
        await asyncio.wait_for(desk.attached.wait(), 10)
        async with asyncio.timeout(10):  # the status is written once a second
            desks = 0
            while desks != 1:
                status = await asyncio.to_thread(machine.run, "status", "--json")
                desks = json.loads(status.stdout)["desks"]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
