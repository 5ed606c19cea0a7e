"""`crabhook up`, `status` and `down`: a server that outlives the terminal it was started in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK

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
