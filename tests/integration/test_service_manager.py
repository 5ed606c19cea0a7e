"""Under a service manager: it is told how we are, hands sockets down, and ends us in good order."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from crabhook.hook.call import HookCall
from crabhook.server.unix_socket import read_status
from tests.support.client import Client, sample
from tests.support.examples import share
from tests.support.plain_desk import PlainDesk
from tests.support.port import new_call, request, short_folder
from tests.support.service import CRABHOOK, Manager, Service, listening
from tests.support.team import founded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEADLESS = ("--headless", "--log-format", "json")
RULES = '[[rule]]\nverdict = "allow"\nmatch = "Bash(npm run *)"\n'


def bash(command: str = "npm run build", call: str = "t1") -> bytes:
    return sample("PreToolUse-Bash", tool_input={"command": command}, tool_use_id=call)


def allowed(address: str, *options: str) -> bool:
    answer = Client(address, bash(), *options).finish()
    if answer.silent:
        return False
    said: str = answer.output["hookSpecificOutput"]["permissionDecision"]
    return said == "allow"


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest.fixture
def sockets() -> Iterator[list[socket.socket]]:
    """What is opened for a service, to be closed after it."""
    opened: list[socket.socket] = []
    yield opened
    for one in opened:
        one.close()


@pytest.mark.parametrize("abstract", share([False, True], 0))
def test_the_manager_hears_when_requests_are_taken_and_when_no_more_are(
    folder: Path, abstract: bool
) -> None:
    name = f"@crabhook-{os.getpid()}-{time.monotonic_ns()}" if abstract else f"{folder}/notify"
    told = {"NOTIFY_SOCKET": name}
    with Manager(name) as manager, Service(*HEADLESS, rules=RULES, waits=False, **told) as service:
        ready = manager.hears()
        assert ready["READY"] == "1"
        assert service.address in ready["STATUS"]
        assert allowed(service.address)
        assert service.end() == 0
        assert manager.hears_until("STOPPING")["STOPPING"] == "1"


SLOW_DISK = """
import sys, time
from crabhook import cli
from crabhook.server import unix_socket

write = unix_socket.write_own
unix_socket.write_own = lambda *file: (time.sleep(1), write(*file))
sys.exit(cli.main())
"""


def test_a_server_is_ready_once_its_status_is_written(folder: Path) -> None:
    slow = (sys.executable, "-c", SLOW_DISK)
    with (
        Manager(f"{folder}/notify") as manager,
        Service(*HEADLESS, waits=False, program=slow, NOTIFY_SOCKET=manager.name) as service,
    ):
        manager.hears_until("READY")
        assert read_status(service.folder / "s")["listening"] == [service.address]
        assert service.end() == 0


def test_a_manager_that_watches_is_told_again_and_again_that_we_live(folder: Path) -> None:
    with Manager(f"{folder}/notify") as manager:
        watched = {"NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "300000"}
        with Service(*HEADLESS, **watched) as service:
            manager.hears_until("READY")
            for _ in range(4):
                assert manager.hears_until("WATCHDOG")["WATCHDOG"] == "1"
            assert service.end() == 0


def test_the_status_says_how_many_wait(folder: Path) -> None:
    with Manager(f"{folder}/notify") as manager, PlainDesk(NOTIFY_SOCKET=manager.name) as desk:
        manager.hears_until("READY")
        client = Client(desk.address, bash())
        number = desk.card("Bash")
        while not manager.hears_until("STATUS")["STATUS"].endswith("1 waiting"):
            pass  # it is said each second, and the call may have taken longer to come
        desk.say(f"{number} allow")
        assert not client.finish().silent
        while not manager.hears_until("STATUS")["STATUS"].endswith("0 waiting"):
            pass


def test_a_socket_handed_down_is_used_and_outlives_the_service(
    folder: Path, sockets: list[socket.socket]
) -> None:
    sockets.append(listening(folder / "given"))
    address = f"unix:{folder}/given"
    with Service(*HEADLESS, rules=RULES, sockets=sockets) as service:
        assert allowed(address)
        assert not (service.folder / "s").exists()
        assert service.end() == 0
        assert (folder / "given").is_socket()
        early = socket.socket(socket.AF_UNIX)
        early.settimeout(60)
        early.connect(str(folder / "given"))  # while nobody serves: it is queued, not refused
        with (
            early,
            Service(*HEADLESS, folder=service.folder, sockets=sockets) as next_one,
        ):
            assert early.recv(1)  # a server's first bytes
            assert allowed(address)
            assert next_one.end() == 0
        left = [path.name for path in service.folder.iterdir()]
        assert not [name for name in left if name.startswith("crabhook-")]


def test_tcp_handed_down_is_as_little_trusted_as_tcp_of_our_own(
    sockets: list[socket.socket], folder: Path
) -> None:
    sockets += [listening("127.0.0.1"), listening(folder / "given")]
    address = f"127.0.0.1:{sockets[0].getsockname()[1]}"
    with Service(*HEADLESS, rules=RULES, sockets=sockets) as service:
        refused = Client(address, bash()).finish()
        assert refused.silent
        assert "token" in refused.stderr
        token = service.folder / ".local/state/crabhook/token"
        assert allowed(address, "--token-file", str(token))
        assert allowed(f"unix:{folder}/given")
        assert service.end() == 0


def test_tcp_that_others_can_reach_needs_tls_whoever_opened_it(
    sockets: list[socket.socket],
) -> None:
    sockets.append(listening("0.0.0.0"))
    with Service(*HEADLESS, sockets=sockets, waits=False) as service:
        assert service.process.wait(60) == 2
        service.wait_for(lambda line: "needs TLS" in line)


def test_tcp_that_was_handed_down_shows_the_teams_certificate(
    sockets: list[socket.socket],
) -> None:
    sockets.append(listening("0.0.0.0"))
    with short_folder() as home:
        team = founded(home / ".local/state/crabhook/team", time.time())
        address = f"127.0.0.1:{sockets[0].getsockname()[1]}"
        with Service(*HEADLESS, sockets=sockets, rules=RULES, folder=home) as service:
            token = home / ".local/state/crabhook/token"
            known = ("--tls-ca", str(team.folder.authority))
            assert allowed(address, "--token-file", str(token), *known)
            assert not allowed(address, "--token-file", str(token))
            assert service.end() == 0


def test_an_empty_folder_of_a_team_keeps_no_server_from_listening(
    sockets: list[socket.socket],
) -> None:
    sockets.append(listening("127.0.0.1"))
    with short_folder() as home:
        (home / ".local/state/crabhook/team").mkdir(parents=True)
        with Service(*HEADLESS, sockets=sockets, rules=RULES, folder=home) as service:
            address = f"127.0.0.1:{sockets[0].getsockname()[1]}"
            assert allowed(address, "--token-file", str(home / ".local/state/crabhook/token"))
            assert service.end() == 0


def test_what_is_no_listening_socket_is_refused(sockets: list[socket.socket]) -> None:
    sockets += socket.socketpair()
    with Service(*HEADLESS, sockets=sockets[:1], waits=False) as service:
        assert service.process.wait(60) == 2
        service.wait_for(lambda line: "no listening stream socket" in line)


def test_sockets_for_another_process_are_left_alone(
    folder: Path, sockets: list[socket.socket]
) -> None:
    sockets.append(listening(folder / "given"))
    own = f"unix:{folder}/own"
    with Service(*HEADLESS, "--listen", own, sockets=sockets, rules=RULES, LISTEN_PID="1"):
        assert allowed(own)


def test_a_restarted_service_loses_nothing_that_waits() -> None:
    with PlainDesk() as desk:
        clients = [Client(desk.address, bash("cat x", f"t{n}")) for n in range(3)]
        numbers = {desk.card("Bash") for _ in clients}
        desk.process.send_signal(signal.SIGUSR1)
        assert desk.process.wait(60) == 0
        assert not any("WITHDRAWN" in line for line in desk.said)
        desk.stop()
        desk.start()
        assert {desk.card("Bash") for _ in clients} == numbers
        for number in numbers:
            desk.say(f"{number} deny after the restart")
        for client in clients:
            assert b"after the restart" in client.finish().stdout


def stuck(address: str, call: HookCall) -> socket.socket:
    """Ask, and leave the server no room for its reply, so that it cannot be given."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(address.removeprefix("unix:"))
    line.sendall(call.take().replace(b"\0\4\x7f\xff\xff\xff", b"\0\4\0\0\0\0", 1))
    return line


@pytest.mark.parametrize("second", share([signal.SIGTERM, signal.SIGINT, None], 0))
def test_a_second_signal_ends_it_at_once(second: signal.Signals | None) -> None:
    with Service(*HEADLESS, rules=RULES) as service:
        event = json.loads(bash())
        with stuck(service.address, new_call(request(event, request_id="stuck"))):
            service.logged("decided")
            service.process.terminate()
            service.logged("ending")
            if second is not None:
                service.process.send_signal(second)
            assert service.process.wait(60) == (-second if second else 0)


def test_what_keeps_it_from_beginning_is_told_to_the_log_it_was_asked_for(folder: Path) -> None:
    command = [
        CRABHOOK,
        "serve",
        *HEADLESS,
        "--listen",
        f"unix:{folder}/no/socket/\u00e9" + "x" * 99,
    ]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        check=False,
    )
    assert done.returncode == 2
    (line,) = map(json.loads, done.stderr.splitlines())
    assert line["level"] == "critical"
    assert "longer than" in line["what"]
