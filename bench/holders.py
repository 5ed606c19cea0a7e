"""Many hooks that wait at once, in one process: a connection and a call each, as the hook makes it.

Started with a socket's path and a number.  Says `waiting SECONDS` when the
server has accepted every call, keeps answering the server's pings, and ends
when its standard input does.
"""

import os
import selectors
import socket
import sys
from secrets import token_hex
from time import perf_counter

from bench.events import DECIDED_EVENT, LEFT_WAITING, new_call
from bench.limits import raise_file_limit
from crabhook.hook.call import Call
from crabhook.hook.wire import GATE, permission_request, request_headers, write_message

_METHOD = "/crabhook.v1.PermissionService/RequestPermission"


def new_waiting_call() -> Call:
    """Return a call that the operator of bench.server leaves waiting."""
    message = permission_request(
        when_lost="pass",
        request_id=token_hex(16),
        secret=token_hex(16),
        platform="claude",
        payload=new_call(DECIDED_EVENT, LEFT_WAITING),
        wait_ms=3_600_000,
        stance=GATE,
        facts=write_message("bench", os.getpid(), "bench", "0"),
    )
    return Call(
        request_headers(_METHOD, "localhost", secure=False, token="", agent="bench"), message
    )


class Crowd:
    """The calls and their connections."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._selector.register(sys.stdin, selectors.EVENT_READ)
        self.accepted = 0

    def add(self, path: str, call: Call) -> None:
        """Connect, waiting while the server's queue is full, and send the request."""
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.connect(path)
        line.sendall(call.take())
        self._selector.register(line, selectors.EVENT_READ, call)

    def move(self, seconds: float | None) -> bool:
        """Take in what arrives in that time; return whether we are still wanted."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                return False
            line, call = key.fileobj, key.data
            assert isinstance(line, socket.socket)  # noqa: S101 - see `add`
            was_accepted = call.accepted
            data = line.recv(1 << 16)
            call.feed(data)
            if not data or call.status is not None:
                raise ConnectionError(f"a call ended that should wait: {call!r} {call.detail}")
            self.accepted += call.accepted and not was_accepted
            if answer := call.take():
                line.sendall(answer)
        return True


def main(path: str, number: int) -> None:
    """Be that many hooks until standard input ends."""
    raise_file_limit()
    calls = [new_waiting_call() for _ in range(number)]
    crowd = Crowd()
    started = perf_counter()
    for call in calls:
        crowd.add(path, call)
        crowd.move(0)
    wanted = True
    while wanted and crowd.accepted < number:
        wanted = crowd.move(None)
    sys.stdout.write(f"waiting {perf_counter() - started}\n")
    sys.stdout.flush()
    while wanted:
        wanted = crowd.move(None)
    os._exit(0)  # the kernel closes ten thousand sockets faster than Python does


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
