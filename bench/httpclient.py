"""A client of the HTTP door that costs next to nothing: a bare socket, and no more of HTTP."""

import socket
from time import perf_counter, process_time
from typing import NamedTuple

from bench.errors import BenchError
from bench.serving import Server


class Answer(NamedTuple):
    """What a call brought, its seconds, and the client's own of them on a processor."""

    body: bytes
    wall: float
    cpu: float


class Door:
    """Writes requests to the HTTP door, and reads the answers, no more of HTTP than that takes."""

    def __init__(self, server: Server) -> None:
        self._address = ("127.0.0.1", server.http_port)
        path = server.url.removeprefix("http://").partition("/")[2]
        self._head = (
            f"POST /{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.http_port}\r\n"
            f"Authorization: {server.authorization}\r\nContent-Type: application/json\r\n"
        )

    def __repr__(self) -> str:
        return f"<Door at {self._address}>"

    def connected(self) -> socket.socket:
        """Return a new connection."""
        line = socket.create_connection(self._address)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def post(self, line: socket.socket, body: bytes) -> Answer:
        """Post on a connection that stays open."""
        request = self._written(body)
        started, cpu = perf_counter(), process_time()
        line.sendall(request)
        answer = _heard(line)
        return Answer(answer, perf_counter() - started, process_time() - cpu)

    def post_anew(self, body: bytes) -> Answer:
        """Post on a connection of its own, made and closed while the clock runs."""
        request = self._written(body)
        started, cpu = perf_counter(), process_time()
        with self.connected() as line:
            line.sendall(request)
            answer = _heard(line)
        return Answer(answer, perf_counter() - started, process_time() - cpu)

    def _written(self, body: bytes) -> bytes:
        return f"{self._head}Content-Length: {len(body)}\r\n\r\n".encode("ascii") + body


def _heard(line: socket.socket) -> bytes:
    """Return an answer's body; raise BenchError unless it is a 200 that says its length."""
    heard = b""
    while b"\r\n\r\n" not in heard:
        heard += _more(line, heard)
    head, _, body = heard.partition(b"\r\n\r\n")
    status, *fields = head.lower().split(b"\r\n")
    lengths = [int(field[15:]) for field in fields if field.startswith(b"content-length:")]
    if not status.startswith(b"http/1.1 200 ") or len(lengths) != 1:
        raise BenchError(f"the HTTP door answered {heard!r}")
    while len(body) < lengths[0]:
        body += _more(line, body)
    return body


def _more(line: socket.socket, so_far: bytes) -> bytes:
    data = line.recv(1 << 16)
    if not data:
        raise BenchError(f"the HTTP door hung up after {so_far!r}")
    return data
