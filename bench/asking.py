"""A client that costs next to nothing: the hook's own HTTP/2 and messages on a bare socket.

It is made of `crabhook.hook.call` and `crabhook.hook.wire`, which start no process here and read
nothing twice. Requests are written before the clock starts, and a connection may carry call after
call. Run as a module with a socket's path and a number, it is a crowd: so many hooks that wait at
once, each on a connection of its own. It says `waiting SECONDS` when the server has accepted every
call, keeps answering the server's pings, and ends when its standard input does.
"""

import os
import selectors
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from secrets import token_hex
from time import perf_counter, process_time

from bench.inputs import DECIDED_EVENT, new_call
from bench.process import BenchError, raise_file_limit, say
from crabhook.hook.call import OK, HookCall
from crabhook.hook.wire import GATE, permission_request, read_reply, request_headers, write_message

_METHOD = "/crabhook.v1.PermissionService/RequestPermission"
_HEADERS = request_headers(_METHOD, "localhost", secure=False, token="", agent="bench")
_FACTS = write_message("bench", os.getpid(), "bench", "0")


def request_for(payload: bytes) -> bytes:
    """Return the request of a hook that waits an hour if need be."""
    return permission_request(
        when_lost="pass",
        request_id=token_hex(16),
        secret=token_hex(16),
        platform="claude",
        payload=payload,
        wait_ms=3_600_000,
        stance=GATE,
        facts=_FACTS,
    )


class Line:
    """A connection, with a single call on it at a time."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self._call: HookCall | None = None

    def __repr__(self) -> str:
        return f"<Line {self._call!r}>"

    def ask(self, request: bytes) -> None:
        """Send a request; the request before has been answered."""
        if self._call is None:
            self._call = HookCall(_HEADERS, request)
        else:
            self._call.again(_HEADERS, request)
        self._send()

    def receive(self) -> bool:
        """Take in what has arrived, or wait for it; say whether the call has its answer."""
        call = self._started()
        data = self.socket.recv(1 << 18)
        if not data:
            raise BenchError(f"the server hung up: {call!r}")
        call.feed(data)
        self._send()
        return call.status is not None

    @property
    def accepted(self) -> bool:
        """Whether the server has taken the request."""
        return self._started().accepted

    @property
    def stdout(self) -> bytes:
        """What the hook would print; raises BenchError for a call that failed."""
        call = self._started()
        if call.status != OK:
            raise BenchError(f"a call failed with status {call.status}: {call.detail}")
        return read_reply(call.message).stdout

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def _started(self) -> HookCall:
        assert self._call is not None  # noqa: S101 - asked of a line that was asked on
        return self._call

    def _send(self) -> None:
        while unsent := self._started().take():
            self.socket.sendall(unsent)


@dataclass(frozen=True, slots=True)
class Asked:
    """How a number of calls went: seconds of each, seconds of all, and of our own processor."""

    each: Sequence[float]
    whole: float
    own_cpu: float


def allowed(stdout: bytes) -> bool:
    """Whether that is what a hook prints for a call that is allowed."""
    return b'"permissionDecision":"allow"' in stdout.replace(b" ", b"")


def ask_all(
    path: str,
    requests: Sequence[bytes],
    *,
    lines: int,
    fresh: bool,
    due: Callable[[bytes], bool] = allowed,
) -> Asked:
    """Ask everything on so many connections at once; `fresh`: on a new connection for each call.

    Raises BenchError for an answer that is not `due`.
    """
    left = iter(requests)
    each: list[float] = []
    answers: list[bytes] = []
    warm = [] if fresh else [Line(path) for _ in range(lines)]
    own = process_time()
    started = perf_counter()
    with selectors.DefaultSelector() as selector:
        for place in range(lines):
            _next(selector, path, left, warm[place] if warm else None)
        while selector.get_map():
            for key, _ in selector.select():
                line, since = key.data
                if not line.receive():
                    continue
                each.append(perf_counter() - since)
                answers.append(line.stdout)
                selector.unregister(line.socket)
                if fresh:
                    line.close()
                _next(selector, path, left, None if fresh else line)
    whole, own = perf_counter() - started, process_time() - own
    for line in warm:
        line.close()
    for answer in answers:
        if not due(answer):
            raise BenchError(f"an answer that was not due: {answer!r}")
    return Asked(each, whole, own)


def _next(
    selector: selectors.BaseSelector, path: str, left: Iterator[bytes], line: Line | None
) -> None:
    """Ask the next request that is left, if any is: on this line, or on a new line."""
    request = next(left, None)
    if request is None:
        return
    since = perf_counter()
    line = line or Line(path)
    line.ask(request)
    selector.register(line.socket, selectors.EVENT_READ, (line, since))


def crowd(path: str, number: int) -> None:
    """Be that many hooks until standard input ends."""
    raise_file_limit()
    requests = [request_for(new_call(DECIDED_EVENT)) for _ in range(number)]
    accepted, wanted = 0, True
    with selectors.DefaultSelector() as selector:

        def move(seconds: float | None) -> None:
            """Take in what arrives in that time."""
            nonlocal accepted, wanted
            for key, _ in selector.select(seconds):
                if key.data is None:
                    wanted = False
                    return
                line, was_accepted = key.data, key.data.accepted
                if line.receive():
                    raise BenchError(f"a call ended that should wait: {line!r}")
                accepted += line.accepted and not was_accepted

        selector.register(sys.stdin, selectors.EVENT_READ)
        started = perf_counter()
        for request in requests:
            line = Line(path)
            line.ask(request)
            selector.register(line.socket, selectors.EVENT_READ, line)
            move(0)
        while wanted and accepted < number:
            move(None)
        say("waiting", perf_counter() - started)
        while wanted:
            move(None)
    os._exit(0)  # the kernel closes ten thousand sockets faster than Python does


if __name__ == "__main__":
    crowd(sys.argv[1], int(sys.argv[2]))
