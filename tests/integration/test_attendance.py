"""Whether anybody is at a desk is told truly, however a desk ends: left, frozen, cut off, killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING

import pytest

from tests.integration.test_background import Machine
from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK
from tests.support.team import RIGHT, founded
from tests.support.typist import Typist

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.process, pytest.mark.thorough, pytest.mark.timeout(240)]
NOTICED_WITHIN = 30.0
"""Seconds in which a desk that stands still is known to be gone: two pings, and a second's look."""


class Attended(Machine):
    """A machine whose server nobody sits at, and a person with a device of the team."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        team = founded(folder / ".local" / "state" / "crabhook" / "team", time.time())
        self.config = folder / ".config" / "crabhook"
        team.seat(self.config, "ann", f"127.0.0.1:{self.port}")
        place = f"127.0.0.1:{self.port}"
        started = self.run("up", "--operators", place, "--alone", "1", "--otherwise", "deny")
        assert started.returncode == 0, started.stderr

    def desks(self, wanted: int, within: float = 60.0) -> None:
        """Wait until the status tells of so many desks."""
        until = time.monotonic() + within
        while (told := json.loads(self.run("status", "--json").stdout))["desks"] != wanted:
            assert time.monotonic() < until, told
            time.sleep(0.2)
        alone = "nobody is at a desk" in self.run("status").stdout
        assert alone is (wanted == 0)

    def is_answered_alone(self, call: str) -> None:
        """Ask; nobody sees it, and it gets the answer that was chosen."""
        client = Client(self.address, sample("PreToolUse-Bash", tool_use_id=call))
        specific = client.finish().output["hookSpecificOutput"]
        assert specific["permissionDecision"] == "deny"
        assert "nobody has been at a desk" in specific["permissionDecisionReason"]

    @contextmanager
    def sitting(self) -> Iterator[Typist]:
        """Sit at a plain desk of the server's for a while."""
        lines = self.folder / "lines"
        lines.unlink(missing_ok=True)
        os.mkfifo(lines)
        command = f"exec {CRABHOOK} desk --plain < {lines}"
        with Typist(["sh", "-c", command], self.environment) as typist:
            with lines.open("w"):
                typist.answer("Your passphrase for the team ours: ", f"{RIGHT}\n")
                yield typist
            with suppress(TimeoutExpired):
                typist.process.communicate(timeout=60)


@pytest.fixture
def machine() -> Iterator[Attended]:
    folder = Path(tempfile.mkdtemp(prefix="crabhook-alone-", dir="/tmp"))
    here = Attended(folder)
    try:
        yield here
    finally:
        with suppress(TimeoutExpired):
            here.run("down", "--yes")
        shutil.rmtree(folder)


def test_a_desk_that_stands_still_or_is_left_or_killed_is_nobody_at_a_desk(
    machine: Attended,
) -> None:
    machine.desks(0)
    machine.is_answered_alone("t1")
    with machine.sitting() as desk:
        machine.desks(1)
        desk.process.send_signal(signal.SIGSTOP)
        machine.desks(0, NOTICED_WITHIN)
        machine.is_answered_alone("t2")
        desk.process.send_signal(signal.SIGCONT)
        machine.desks(1, NOTICED_WITHIN)  # it comes back by itself
    machine.desks(0)
    with machine.sitting() as desk:
        machine.desks(1)
        desk.process.kill()
        machine.desks(0)
    machine.is_answered_alone("t3")
