"""Whatever dies, at whatever stage: no card waits for nobody, no client waits for nothing."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import termios
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.client import Client, sample
from tests.support.examples import share
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.rows import every_row

if TYPE_CHECKING:
    from collections.abc import Iterator

BASH = sample("PreToolUse-Bash")


@pytest.fixture(scope="module")
def shared() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


@pytest.fixture
def desk(shared: PlainDesk) -> PlainDesk:
    return shared.anew()


@every_row("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_client_that_is_ended_takes_its_card_along_and_says_nothing(
    desk: PlainDesk, number: signal.Signals
) -> None:
    client = Client(desk.address, BASH)
    card = desk.card("Bash")
    client.send_signal(number)
    desk.wait_for(rf"^#{card} WITHDRAWN")
    answer = client.finish()
    assert answer.stdout == b""
    assert answer.code != 0
    desk.say(f"{card} allow")
    desk.wait_for("changed nothing")


def test_a_client_that_is_ended_before_it_asks_leaves_no_trace(desk: PlainDesk) -> None:
    client = Client(desk.address, None)
    time.sleep(0.2)
    client.terminate()
    assert client.finish().stdout == b""
    desk.say("list")
    desk.wait_for("nothing waits")


@pytest.mark.parametrize("leave", share(["quit", "end of lines", "SIGHUP", "SIGINT", "SIGTERM"], 0))
def test_an_operator_who_leaves_releases_what_waits_with_no_opinion(leave: str) -> None:
    with PlainDesk() as desk:
        clients = [
            Client(desk.address, sample("PreToolUse-Bash", tool_use_id=f"t{n}")) for n in range(3)
        ]
        for _ in clients:
            desk.card("Bash")
        if leave == "quit":
            desk.say("quit")
        elif leave == "end of lines":
            desk.stop()
        else:
            desk.process.send_signal(signal.Signals[leave])
        for client in clients:
            assert client.finish().silent
        desk.process.wait(60)


def test_a_client_whose_server_dies_gives_up_after_its_patience() -> None:
    with PlainDesk() as desk:
        client = Client(desk.address, BASH, "--reconnect", "1")
        denied = Client(
            desk.address,
            sample("PreToolUse-Bash", tool_use_id="t2"),
            *("--reconnect", "1", "--when-lost", "deny"),
        )
        desk.card("Bash")
        desk.card("Bash")
        desk.kill()
        answer = client.finish()
        assert answer.silent
        assert "lost" in answer.stderr
        assert denied.finish().output["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_client_finds_its_server_again_and_is_decided_once() -> None:
    with PlainDesk() as desk:
        client = Client(desk.address, BASH)
        desk.card("Bash")
        desk.kill()
        desk.stop()
        desk.start()
        number = desk.card("Bash")
        desk.say(f"{number} deny after all")
        assert "after all" in client.finish().stdout.decode()
        desk.wait_for(rf"^#{number} delivered")


def test_nobody_there_is_no_opinion_at_once() -> None:
    answer = Client("unix:/tmp/crabhook-nobody-is-here", BASH).finish()
    assert answer.silent
    assert answer.stderr.count("\n") == 1
    assert "open the desk: crabhook" in answer.stderr


def test_a_wait_that_runs_out_is_no_opinion_and_the_card_says_so() -> None:
    with PlainDesk("--wait", "0.5") as desk:
        client = Client(desk.address, BASH)
        number = desk.card("Bash")
        assert client.finish().silent
        desk.wait_for(rf"^#{number} EXPIRED")


def test_a_terminal_that_is_closed_releases_what_waits() -> None:
    with PlainDesk() as unused:  # for its folder
        address = f"unix:{unused.folder}/screen"
        controller, terminal = pty.openpty()
        termios.tcsetwinsize(terminal, (24, 80))
        server = subprocess.Popen(
            [CRABHOOK, "serve", "--listen", address],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={"PATH": os.environ["PATH"], "TERM": "xterm", "HOME": str(unused.folder)},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one thread
        )
        os.close(terminal)
        try:
            for _ in range(600):
                if os.path.exists(address.removeprefix("unix:")):  # noqa: PTH110 - a socket's
                    break
                time.sleep(0.1)
            client = Client(address, BASH)
            deadline = time.monotonic() + 60
            seen = b""
            while b"out.txt" not in seen:
                assert time.monotonic() < deadline, seen
                seen += os.read(controller, 65536)
            os.close(controller)
            assert client.finish().silent
            server.wait(60)
        finally:
            server.kill()
            server.wait()
