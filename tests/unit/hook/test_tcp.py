"""Servers by host and port: loopback in the clear, everything else only by TLS."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from crabhook.hook import Options, Unanswered, sockets, tcp
from tests.support.isolation import isolated, why_not, with_etc
from tests.support.requirements import leave_out
from tests.support.rows import every_row
from tests.unit.hook.peers import (
    INSTALLED,
    PAYLOAD,
    Operator,
    ask,
    replying,
    run_hook,
    serving,
)


def options_for(server: str) -> Options:
    options = Options()
    options.server = server
    options.wait = 20.0
    return options


@pytest.mark.process
@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "[::1]"])
def test_loopback_is_asked_in_the_clear(host: str) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    listen = {"127.1.2.3": "127.1.2.3", "[::1]": "[::1]"}.get(host, "127.0.0.1")
    with serving(operator, f"{listen}:0") as (_, port):
        hook = run_hook("--server", f"{host}:{port}")
    assert (hook.stdout, hook.stderr) == (b"yes", b"")


@pytest.mark.process
def test_the_receipt_takes_no_second_connection() -> None:
    operator = Operator(lambda _request, _context: replying(b"yes", confirm=True))
    with serving(operator, "127.0.0.1:0") as (_, port):
        hook = run_hook("--server", f"localhost:{port}")
    assert (hook.stdout, hook.returncode, len(operator.confirmed)) == (b"yes", 0, 1)
    first, second = operator.callers
    assert first == second
    assert first.startswith("ipv4:127.0.0.1:")


@pytest.mark.parametrize("size", [0, 70_000, 5 << 20])
def test_large_questions_and_answers_fit_through_tcp(size: int) -> None:
    operator = Operator(lambda request, _context: replying(request.payload[::-1]))
    payload = bytes(range(256)) * (size // 256)
    with serving(operator, "127.0.0.1:0") as (_, port):
        assert ask(options_for(f"127.0.0.1:{port}"), payload).stdout == payload[::-1]


@pytest.mark.parametrize(
    "host",
    ["192.0.2.1", "operator.example", "[2001:db8::1]", "[::]", "0.0.0.0", "localhost.example",
     "127.0.0.1.example", "[::ffff:192.0.2.1]", "128.0.0.1", "0x7f.1"],
)  # fmt: skip
def test_nothing_leaves_the_machine_in_the_clear(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tempted(*_arguments: object) -> None:
        raise AssertionError("a name was looked up, or a connection made")

    monkeypatch.setattr(sockets, "getaddrinfo", tempted)
    with pytest.raises(Unanswered, match="in the clear") as unanswered:
        ask(options_for(f"{host}:50051"))
    assert unanswered.value.kind == "unreachable"


def test_a_name_for_loopback_that_leads_elsewhere_is_not_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 50051))]
    monkeypatch.setattr(sockets, "getaddrinfo", lambda *_arguments: elsewhere)
    with pytest.raises(Unanswered, match="in the clear"):
        ask(options_for("localhost:50051"))


@every_row(
    "server",
    ["nothing", "host:", ":50051", "host:0", "host:65536", "host:" + "9" * 5000, "host:-1", "host:x", "::1:50051",
     "[]:1", "http://127.0.0.1:1", "127.0.0.1:\uff11", "UNIX:/x"],
)  # fmt: skip
def test_what_is_no_address_is_nobodys(server: str) -> None:
    with pytest.raises(Unanswered) as unanswered:
        ask(options_for(server))
    assert unanswered.value.kind == "unreachable"


@pytest.mark.parametrize("host", ["b\xfccher.example", "\udcff"])
def test_a_name_only_people_can_read_is_nobodys(host: str) -> None:
    options = options_for(f"{host}:1")
    options.tls_ca = "/nowhere"
    with pytest.raises(Unanswered, match="xn--") as unanswered:
        ask(options)
    assert unanswered.value.kind == "unreachable"


@pytest.mark.process
def test_a_port_nobody_listens_on_is_nobodys() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    hook = run_hook("--server", f"localhost:{port}")
    assert (hook.returncode, hook.stdout) == (0, b"")
    assert b"Connection refused" in hook.stderr


def test_a_name_that_has_no_address_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "getaddrinfo", lambda *_arguments: [])
    with pytest.raises(Unanswered):
        ask(options_for("localhost:1"))


@pytest.mark.process
def test_whoever_names_a_host_that_nobody_knows_is_not_led_to_start_a_server() -> None:
    hook = run_hook("--server", "no-such-host.invalid:7443", "--tls-ca", __file__)
    assert (hook.returncode, hook.stdout) == (0, b"")
    assert b"see that this machine knows the server's name" in hook.stderr
    assert b"open the desk" not in hook.stderr


_WITH_A_SILENT_RESOLVER = """
import socket, subprocess, sys
from tests.support.isolation import raise_loopback
raise_loopback()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
    resolver.bind(("127.0.0.1", 53))
    sys.exit(subprocess.run(sys.argv[1:], timeout=60).returncode)
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("servers", "seconds", "answered"),
    [
        ("a.example:7443", 5.0, False),
        ("a.example:7443,b.example:7443", 3.0, False),
        ("a.example:7443,unix:{}/s", 1.5, True),
    ],
)
def test_a_resolver_that_answers_nothing_is_waited_for_no_longer_than_a_server(
    folder: Path, servers: str, seconds: float, *, answered: bool
) -> None:
    if reason := why_not():
        leave_out(reason)
    etc = folder / "etc"
    etc.mkdir()
    (etc / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    (etc / "nsswitch.conf").write_text("hosts: files dns\n")
    (etc / "hosts").write_text("127.0.0.1 localhost\n")
    hook = [*INSTALLED, f"--server={servers.format(folder)}", "--tls-ca=/nowhere"]
    command = with_etc(etc, [sys.executable, "-c", _WITH_A_SILENT_RESOLVER, *hook])
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with serving(operator, f"unix:{folder}/s"):
        begun = time.monotonic()
        told = subprocess.run(isolated(command), input=PAYLOAD, capture_output=True, check=False)
        assert seconds <= time.monotonic() - begun < seconds + 3
    assert told.returncode == 0
    assert told.stdout == (b"yes" if answered else b"")
    assert answered or b"no name server answers in time" in told.stderr


def test_where_no_thread_can_be_had_a_name_is_looked_up_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left(*_arguments: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(tcp, "start_new_thread", none_left)
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with serving(operator, "127.0.0.1:0") as (_, port):
        assert ask(options_for(f"localhost:{port}")).stdout == b"yes"


def test_a_time_that_is_over_is_not_spent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(TimeoutError):
            tcp.connect(f"127.0.0.1:{port}", "", 0.0)


def test_the_next_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = listener.getsockname()[1]
    with serving(operator, "127.0.0.1:0") as (_, port):
        addresses = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", number))
            for number in (closed, port)
        ]
        monkeypatch.setattr(sockets, "getaddrinfo", lambda *_arguments: addresses)
        assert ask(options_for("localhost:1")).stdout == b"yes"


def test_a_peer_that_falls_silent_is_noticed_in_about_a_minute() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        line = tcp.connect(f"127.0.0.1:{port}", "", time.monotonic() + 60)
        with contextlib.closing(line):
            options = {
                name: line.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
                for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
            }
            assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    idle, step, count, user = options.values()
    assert 30 <= idle + step * count <= 90
    assert 30_000 <= user <= 90_000


def test_a_system_without_the_finer_options_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sockets, "TCP_USER_TIMEOUT")
    monkeypatch.delattr(sockets, "TCP_KEEPIDLE")
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with serving(operator, "127.0.0.1:0") as (_, port):
        assert ask(options_for(f"127.0.0.1:{port}")).stdout == b"yes"


def test_the_server_is_told_which_host_is_meant() -> None:
    heard = bytearray()

    def listen() -> None:
        line, _ = listener.accept()
        with line:
            heard.extend(line.recv(1 << 16))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        thread = threading.Thread(target=listen)
        thread.start()
        with pytest.raises(Unanswered):
            ask(options_for(address))
        thread.join(60)
    assert address.encode() in heard
