"""`crabhook up`, `status` and `down`: a server that outlives the terminal it was started in."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import grpc
import pytest

from crabhook.remote.desk import RemoteDesk
from crabhook.remote.servers import OPTIONS, Servers
from crabhook.server.unix_socket import status_file
from crabhook.team.desk_keys import desk_folders
from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK
from tests.support.team import RIGHT
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator


LISTENS = """
import socket, sys, time
line = socket.socket(socket.AF_UNIX)
line.bind(sys.argv[1])
line.listen()
print(flush=True)
time.sleep(60)
"""
MOVES = "\x1b[2J\x1b]0;x\x07"  # a terminal


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

    @property
    def socket(self) -> Path:
        return self.folder / "crabhook" / "crabhook.sock"

    def forge(self, **told: object) -> subprocess.Popen[str]:
        """Have another program of the same user listen, and tell of itself what it likes."""
        self.socket.parent.mkdir(mode=0o700)
        server = subprocess.Popen(
            [sys.executable, "-c", LISTENS, str(self.socket)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        server.stdout.readline()
        told.setdefault("pid", server.pid)
        status_file(self.socket).write_text(json.dumps(told))
        return server

    def run(self, *words: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, CRABHOOK, *words],
            cwd=self.folder,
            start_new_session=True,  # who signals its own group does not reach us
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
            here.run("down", "--yes")
        shutil.rmtree(folder)


def test_a_server_in_the_background_tells_how_it_is_and_ends_when_told(machine: Machine) -> None:
    nobody = machine.run("status", "--json")
    assert nobody.returncode == 7
    assert json.loads(nobody.stdout)["running"] is False

    started = machine.run("up", "--alone", "0.5", "--otherwise", "deny")
    assert started.returncode == 0, started.stderr
    assert "nobody is at a desk" in started.stdout
    assert started.stdout.endswith("then give `crabhook up` in a terminal\n")
    again = machine.run("up")
    assert again.returncode == 0
    assert "runs already" in again.stdout

    status = machine.run("status", "--json")
    told = json.loads(status.stdout)
    assert status.returncode == 0
    assert str(told["pid"]) in started.stdout
    stands = {"waiting": 0, "desks": 0, "listening": [machine.address], "role": "alone"}
    assert {**told, **stands, "running": True} == told

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


def test_down_with_waiting_cards_does_nothing_where_nobody_can_be_asked(machine: Machine) -> None:
    machine.run("up", "--alone", "60")
    waits = Client(machine.address, sample("PreToolUse-Bash", cwd="/nowhere/project"))
    _wait_for_cards(machine, 1)
    refused = machine.run("down")
    assert refused.returncode == 1
    assert "1 request waits for an answer" in refused.stderr
    assert "crabhook down --yes" in refused.stderr
    assert machine.run("status").returncode == 0
    ended = machine.run("down", "--yes")
    assert ended.returncode == 0, ended.stderr
    assert "1 waiting went back" in ended.stdout
    assert waits.finish().silent
    record = machine.run("log", "--json", "--all-kinds").stdout
    assert "the server was stopped" in record
    assert "closed the desk" not in record


def test_down_with_waiting_cards_says_how_many_and_asks(machine: Machine) -> None:
    machine.run("up", "--alone", "60")
    waits = Client(machine.address, sample("PreToolUse-Bash", cwd="/nowhere/project"))
    _wait_for_cards(machine, 1)
    environment = {**machine.environment, "TERM": "xterm-256color"}
    for typed, ends in (("n", False), ("", False), ("y", True)):
        with closing(Terminal([CRABHOOK, "down"], environment)) as terminal:
            terminal.wait_for("1 request waits for an answer. If the server ends")
            terminal.wait_for("End the server?")
            terminal.key(*typed, "Enter")
            terminal.wait_for("has ended" if ends else "the server runs on: nothing was done")
        assert (machine.run("status").returncode == 7) is ends
        assert ends or waits.poll() is None
    assert waits.finish().silent


def _wait_for_cards(machine: Machine, many: int) -> None:
    """Wait until the server tells that so many cards wait; its status is a second old at most."""
    until = time.monotonic() + 60
    while json.loads(machine.run("status", "--json").stdout)["waiting"] != many:
        assert time.monotonic() < until


def test_a_server_that_cannot_start_says_why_and_leaves_none(machine: Machine) -> None:
    started = machine.run("up", "--listen", "203.0.113.7:7777")
    assert started.returncode == 1
    assert "needs TLS" in started.stderr
    assert "serve.log" in started.stderr
    assert machine.run("status").returncode == 7


PROMPTS = (b"Your new passphrase, 8 characters or more: ", b"The same again: ")


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
    up = f"{shlex.quote(CRABHOOK)} up --operators {place}"
    shown = await asyncio.to_thread(typed, machine, up, RIGHT, RIGHT)
    assert "crabhook runs" in shown
    assert RIGHT not in shown
    told = json.loads(machine.run("status", "--json").stdout)
    assert f"{place} for desks" in told["listening"]
    (folder,) = desk_folders(machine.folder / ".config" / "crabhook")
    assert folder.facts().server == place
    keys = folder.opened(RIGHT)
    credentials = grpc.ssl_channel_credentials(keys.authority, keys.key, keys.certificate)
    async with grpc.aio.secure_channel(place, credentials, options=OPTIONS) as channel:
        desk = RemoteDesk(Servers({"": channel}), time.monotonic)
        running = asyncio.ensure_future(desk.run())
        await asyncio.wait_for(desk.attached.wait(), 60)
        async with asyncio.timeout(60):  # the status is written once a second
            desks = 0
            while desks != 1:
                status = await asyncio.to_thread(machine.run, "status", "--json")
                desks = json.loads(status.stdout)["desks"]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def test_what_another_program_tells_as_the_server_moves_no_terminal(machine: Machine) -> None:
    told = dict.fromkeys(("waiting", "desks", "role"), MOVES)
    with machine.forge(**told, listening=[MOVES, {}]):
        for words in (("status",), ("status", "--json"), ("down", "--yes")):
            printed = machine.run(*words)
            assert "2J" in printed.stdout
            assert "\x1b" not in printed.stdout


def test_up_sends_nobody_to_a_desk_that_the_running_server_does_not_take(machine: Machine) -> None:
    with machine.forge(listening=[machine.address]) as server:
        said = machine.run("up").stdout
        assert f"runs already (process {server.pid}), and takes no desks but its own" in said
        assert "then give `crabhook up` in a terminal" in said
        told = {"pid": server.pid, "listening": [machine.address, "127.0.0.1:7444 for desks"]}
        status_file(machine.socket).write_text(json.dumps(told))
        assert "open its desk with `crabhook`" in machine.run("up").stdout
        server.kill()


def test_down_ends_no_process_but_the_one_that_says_it_is_the_server(machine: Machine) -> None:
    with machine.forge(pid=os.getpid()) as stranger:
        ended = machine.run("down")
        unharmed = stranger.poll() is None
        stranger.kill()
    assert ended.returncode == 1
    assert "end the server there" in ended.stderr
    assert unharmed


@pytest.mark.parametrize("killed", [False, True], ids=["none yet", "of a killed server"])
def test_down_waits_for_the_status_that_a_new_server_has_yet_to_write(
    machine: Machine, *, killed: bool
) -> None:
    assert machine.run("up").returncode == 0
    status = status_file(machine.socket)
    if killed:
        gone = subprocess.Popen(["true"])
        gone.wait(60)
        status.write_text(json.dumps({"pid": gone.pid}))
    else:
        status.unlink(missing_ok=True)
    ended = machine.run("down")
    assert (ended.returncode, "crabhook has ended" in ended.stdout) == (0, True), ended.stderr


def test_down_does_not_signal_itself_for_a_server_whose_process_cannot_be_seen(
    machine: Machine,
) -> None:
    apart = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child")
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no other namespace can be made here")
    with machine.forge(pid=0) as stranger:
        ended = machine.run("down", before=apart)
        stranger.kill()
    assert ended.returncode == 1
    assert "cannot be seen" in ended.stderr


def test_who_listens_and_takes_nobody_in_keeps_nobody_waiting(machine: Machine) -> None:
    machine.socket.parent.mkdir(mode=0o700)
    with ExitStack() as opened:
        server = opened.enter_context(socket.socket(socket.AF_UNIX))
        server.bind(str(machine.socket))
        server.listen(0)
        with suppress(BlockingIOError):
            for _ in range(10):
                line = opened.enter_context(socket.socket(socket.AF_UNIX))
                line.setblocking(False)
                line.connect(str(machine.socket))
        for words in ("status", "up", "down"):
            said = machine.run(words)
            assert said.returncode == 1
            assert "does not answer" in said.stderr


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_log_that_is_no_file_of_its_own_is_not_written_and_keeps_nobody_waiting(
    machine: Machine, kind: str
) -> None:
    log, target = machine.folder / ".local/state/crabhook/serve.log", machine.folder / "mine"
    log.parent.mkdir(parents=True)
    target.write_text("mine")
    os.mkfifo(log) if kind == "pipe" else log.symlink_to(target)
    started = machine.run("up")
    assert started.returncode == 1
    assert f"the log {log}" in started.stderr
    assert "Traceback" not in started.stderr
    assert target.read_text() == "mine"


def test_up_believes_the_server_alone_that_it_is_ready(machine: Machine) -> None:
    machine.environment["TMPDIR"] = str(machine.folder)
    (machine.folder / "mine.toml").write_text("[server]\nalone = 5\n")
    lies = (b"\xff\xfe", f"READY=1\nSTATUS=forged {MOVES}".encode())

    def forge() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            until = time.monotonic() + 60
            while time.monotonic() < until:
                for one in machine.folder.glob("crabhook-up-*/notify"):
                    with suppress(OSError):
                        for lie in lies:
                            line.sendto(lie, str(one))
                        return
                time.sleep(0.01)

    forger = Thread(target=forge)
    forger.start()
    started = machine.run("up", "--settings", "mine.toml")  # found where the person is
    forger.join()
    assert started.returncode == 0, started.stderr
    assert f"listening on {machine.address}" in started.stdout
    assert "forged" not in started.stdout
