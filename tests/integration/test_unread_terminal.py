"""A terminal that nobody reads, such as a halted tmux, keeps no agent waiting."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import tempfile
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.client import Client, sample
from tests.support.examples import share
from tests.support.plain_desk import CRABHOOK

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = '[[rule]]\nverdict = "allow"\nmatch = "Bash(npm run *)"\n'
MANY = 40


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="crabhook-tty-", dir="/tmp"))
    (folder / ".config" / "crabhook").mkdir(parents=True)
    (folder / ".config" / "crabhook" / "rules.toml").write_text(RULE, encoding="utf-8")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("options", share([(), ("--plain",)], 0))
def test_an_unread_terminal_keeps_no_agent_waiting_and_can_be_left(
    folder: Path, options: tuple[str, ...]
) -> None:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (100, 300))
    address = f"unix:{folder}/s"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm-256color"}
    server = subprocess.Popen(
        [CRABHOOK, "serve", "--listen", address, *options],
        stdin=slave,
        stdout=slave,
        stderr=subprocess.PIPE,
        env={**environment, "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": str(folder)},
    )
    os.close(slave)
    clients: list[Client] = []
    try:
        listening(folder / "s")
        for number in range(MANY):  # far more than a terminal takes that nobody reads
            call = {"command": f"make {'x' * 4000}"}
            asked = sample("PreToolUse-Bash", tool_input=call, session_id=f"s{number}")
            clients.append(Client(address, asked))
        for key in b"?\x1b" * 20:  # the page of all keys comes and goes
            os.write(master, bytes([key]))
            time.sleep(0.06)
        time.sleep(1)
        allowed = sample("PreToolUse-Bash", tool_input={"command": "npm run build"})
        answer = Client(address, allowed).finish()
        assert answer.output["hookSpecificOutput"]["permissionDecision"] == "allow"
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        assert all(client.finish().silent for client in clients)
    finally:
        for process in (server, *clients):
            process.kill()
            process.communicate()
        os.close(master)


def listening(socket: Path) -> None:
    deadline = time.monotonic() + 60
    while not socket.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
