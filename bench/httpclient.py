"""A client of the HTTP door that costs next to nothing: a bare socket, and no more of HTTP."""

import socket
from time import perf_counter, process_time
from typing import NamedTuple

from bench.errors import BenchError
from crabhook.platforms.claude.write import PATH


class Answer(NamedTuple):
    """What a call brought, its seconds, and the client's own of them on a processor."""

    body: bytes
    wall: float
    cpu: float


class HttpClient:
    """Writes requests to the HTTP door, and reads the answers, no more of HTTP than that takes."""

    def __init__(self, port: int, authorization: str) -> None:
        self._address = ("127.0.0.1", port)
        self._head = (
            f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: {authorization}\r\nContent-Type: application/json\r\n"
        )

    def __repr__(self) -> str:
        return f"<HttpClient at {self._address}>"

    def connected(self) -> socket.socket:
        """Return a new connection."""
        line = socket.create_connection(self._address)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def post(self, line: socket.socket, body: bytes) -> Answer:
        """Post on a connection that stays open."""
        request = self.written(body)
        started, cpu = perf_counter(), process_time()
        line.sendall(request)
        answer = _heard(line)
        return Answer(answer, perf_counter() - started, process_time() - cpu)

    def post_anew(self, body: bytes) -> Answer:
        """Post on a connection of its own, made and closed while the clock runs."""
        request = self.written(body)
        started, cpu = perf_counter(), process_time()
        with self.connected() as line:
            line.sendall(request)
            answer = _heard(line)
        return Answer(answer, perf_counter() - started, process_time() - cpu)

    def written(self, body: bytes) -> bytes:
        """Return the whole request that posts a hook's input."""
        return f"{self._head}Content-Length: {len(body)}\r\n\r\n".encode("ascii") + body


class Posted:
    """One connection, with one POST on it at a time; a `bench.asking.Connection`."""

    def __init__(self, client: HttpClient) -> None:
        self.socket = client.connected()
        self._heard = b""
        self._body: bytes | None = None

    def __repr__(self) -> str:
        return f"<Posted {len(self._heard)} bytes heard>"

    def ask(self, request: bytes) -> None:
        """Send a request, as `HttpClient.written` writes it."""
        self._heard, self._body = b"", None
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Take in what has arrived, or wait for it; say whether the call has its answer."""
        self._heard += _more(self.socket, self._heard)
        self._body = _body(self._heard)
        return self._body is not None

    @property
    def stdout(self) -> bytes:
        """The answer's body."""
        assert self._body is not None  # noqa: S101 - asked of one that was heard out
        return self._body

    def close(self) -> None:
        """Hang up."""
        self.socket.close()


def _heard(line: socket.socket) -> bytes:
    """Return the body of the next answer."""
    heard = b""
    while (body := _body(heard)) is None:
        heard += _more(line, heard)
    return body


def _body(heard: bytes) -> bytes | None:
    """Return an answer's body, None before all of it has come.

    Raises BenchError unless it is a 200 that says its length.
    """
    head, end, body = heard.partition(b"\r\n\r\n")
    if not end:
        return None
    status, *fields = head.lower().split(b"\r\n")
    lengths = [int(field[15:]) for field in fields if field.startswith(b"content-length:")]
    if not status.startswith(b"http/1.1 200 ") or len(lengths) != 1:
        raise BenchError(f"the HTTP door answered {heard!r}")
    return body if len(body) >= lengths[0] else None


def _more(line: socket.socket, so_far: bytes) -> bytes:
    data = line.recv(1 << 16)
    if not data:
        raise BenchError(f"the HTTP door hung up after {so_far!r}")
    return data
