"""Servers behind TLS: the one CA, the host's name, HTTP/2 inside."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import trustme

from crabhook.hook import Options, Unanswered, sockets, tcp
from tests.unit.hook.peers import (
    CONSOLE,
    PAYLOAD,
    Operator,
    Script,
    ask,
    replying,
    run_hook,
    serving,
)
from tests.unit.hook.test_backpressure import slow_reader


@pytest.fixture(scope="module")
def ca() -> trustme.CA:
    return trustme.CA()


def save(ca: trustme.CA, folder: Path) -> str:
    path = folder / "ca.pem"
    ca.cert_pem.write_to_path(str(path))
    return str(path)


@contextlib.contextmanager
def secured(operator: Operator, ca: trustme.CA, name: str) -> Iterator[int]:
    certificate = ca.issue_cert(name)
    credentials = grpc.ssl_server_credentials(
        [
            (
                certificate.private_key_pem.bytes(),
                b"".join(blob.bytes() for blob in certificate.cert_chain_pems),
            )
        ]
    )
    with serving(operator, "127.0.0.1:0", credentials=credentials) as (_, port):
        yield port


def options_for(server: str, tls_ca: str) -> Options:
    options = Options()
    options.server = server
    options.tls_ca = tls_ca
    options.wait = 20.0
    return options


@pytest.mark.process
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_server_the_ca_vouches_for_is_asked(ca: trustme.CA, tmp_path: Path, host: str) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes"))
    with secured(operator, ca, host) as port:
        options = ("--server", f"{host}:{port}", "--tls-ca", save(ca, tmp_path))
        hook = run_hook(*options, door=CONSOLE)
    assert (hook.stdout, hook.stderr) == (b"yes", b"")
    assert operator.requests[0].payload == PAYLOAD


@pytest.mark.process
def test_the_receipt_takes_no_second_handshake(ca: trustme.CA, tmp_path: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"yes", confirm=True))
    with secured(operator, ca, "localhost") as port:
        options = ("--server", f"localhost:{port}", "--tls-ca", save(ca, tmp_path))
        hook = run_hook(*options)
    assert (hook.stdout, hook.stderr, hook.returncode) == (b"yes", b"", 0)
    assert len(operator.confirmed) == 1
    first, second = operator.callers
    assert first == second


@pytest.mark.parametrize("size", [0, 70_000, 5 << 20])
def test_large_questions_and_answers_fit_through_tls(
    ca: trustme.CA, tmp_path: Path, size: int
) -> None:
    operator = Operator(lambda request, _context: replying(request.payload[::-1]))
    payload = bytes(range(256)) * (size // 256)
    with secured(operator, ca, "localhost") as port:
        reply = ask(options_for(f"localhost:{port}", save(ca, tmp_path)), payload)
    assert reply.stdout == payload[::-1]


def test_a_slow_reader_is_waited_for_and_answered_through_tls(
    ca: trustme.CA, tmp_path: Path
) -> None:
    answered: list[int] = []
    with (
        speaking_tls(ca, ["h2"], slow_reader(answered)) as port,
        pytest.raises(Unanswered) as unanswered,
    ):
        ask(options_for(f"localhost:{port}", save(ca, tmp_path)), bytes(24 << 20))
    assert unanswered.value.status == 3
    assert answered[0] < 20 << 20  # before the payload was through


def test_a_server_that_hangs_up_is_a_connection_lost_as_without_tls(
    ca: trustme.CA, tmp_path: Path
) -> None:
    by = time.monotonic() + 60

    def send_on(line: sockets.socket) -> None:
        while time.monotonic() < by:
            line.send(bytes(1 << 16))

    with (
        speaking_tls(ca, ["h2"], lambda line: line.close()) as port,
        contextlib.closing(tcp.connect(f"localhost:{port}", save(ca, tmp_path), by)) as line,
        pytest.raises(ConnectionError),
    ):
        send_on(line)


def test_a_certificate_for_another_host_is_nobodys(ca: trustme.CA, tmp_path: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"an impostor's yes"))
    with (
        secured(operator, ca, "other.example") as port,
        pytest.raises(Unanswered, match="Hostname mismatch"),
    ):
        ask(options_for(f"localhost:{port}", save(ca, tmp_path)))
    assert not operator.requests


@pytest.mark.process
def test_a_certificate_of_another_ca_is_nobodys(ca: trustme.CA, tmp_path: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"an impostor's yes"))
    with secured(operator, trustme.CA(), "localhost") as port:
        server = ("--server", f"localhost:{port}", "--tls-ca", save(ca, tmp_path))
        hook = run_hook(*server)
    assert (hook.returncode, hook.stdout) == (0, b"")
    assert b"--tls-ca does not vouch for the server: " in hook.stderr
    assert b"open the desk" not in hook.stderr
    assert hook.stderr.endswith(b"--tls-ca that the server's certificate comes from\n")
    assert not operator.requests


def test_a_server_without_tls_is_not_asked_with_it(ca: trustme.CA, tmp_path: Path) -> None:
    operator = Operator(lambda _request, _context: replying(b"an impostor's yes"))
    with serving(operator, "127.0.0.1:0") as (_, port), pytest.raises(Unanswered, match="no TLS"):
        ask(options_for(f"localhost:{port}", save(ca, tmp_path)))
    assert not operator.requests


@pytest.mark.parametrize("content", [None, b"no certificate"])
def test_a_ca_that_cannot_be_read_is_nobodys(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_bytes(content)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(Unanswered, match=r"No such file|no certificate") as unanswered,
    ):
        ask(options_for(f"localhost:{listener.getsockname()[1]}", f"{tmp_path}/ca.pem"))
    assert unanswered.value.kind == "unreachable"


def test_tls_and_a_unix_socket_do_not_go_together(ca: trustme.CA, tmp_path: Path) -> None:
    with pytest.raises(Unanswered, match="not an address"):
        ask(options_for("unix:/run/s", save(ca, tmp_path)))


def say_nothing(line: socket.socket) -> None:
    while line.recv(1 << 16):
        pass


@contextlib.contextmanager
def speaking_tls(
    ca: trustme.CA, protocols: list[str], script: Script = say_nothing
) -> Iterator[int]:
    """A TLS server that shakes hands and then plays a script."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("localhost").configure_cert(context)
    if protocols:
        context.set_alpn_protocols(protocols)

    def shake() -> None:
        line, _ = listener.accept()
        line.settimeout(60)
        with line, contextlib.suppress(OSError), context.wrap_socket(line, server_side=True) as tls:
            script(tls)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=shake)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("protocols", [[], ["http/1.1"]])
def test_a_tls_server_that_speaks_no_http2_is_nobodys(
    ca: trustme.CA, tmp_path: Path, protocols: list[str]
) -> None:
    with (
        speaking_tls(ca, protocols) as port,
        pytest.raises(Unanswered, match=r"not HTTP/2|no application protocol|ALPN"),
    ):
        ask(options_for(f"localhost:{port}", save(ca, tmp_path)))


def test_a_tls_server_that_says_nothing_is_given_up_in_time(ca: trustme.CA, tmp_path: Path) -> None:
    with speaking_tls(ca, ["h2"]) as port:
        options = options_for(f"localhost:{port}", save(ca, tmp_path))
        options.wait = 0.4
        with pytest.raises(Unanswered, match="no answer in time"):
            ask(options)


def test_a_peer_that_never_shakes_hands_is_given_up_in_time(ca: trustme.CA, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        options = options_for(f"localhost:{listener.getsockname()[1]}", save(ca, tmp_path))
        options.wait = 0.3
        with pytest.raises(Unanswered, match="timed out") as unanswered:
            ask(options)
    assert unanswered.value.kind == "unreachable"
