"""Waits for room in a server's queue of connections, or in a socket's buffer; rarely imported."""

import select
from time import monotonic, sleep

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from crabhook.hook import sockets


def connect_when_ready(sock: "sockets.socket", path: bytes, by: float) -> None:
    """Connect to a server as soon as its queue has room; raise OSError at the time `by`."""
    while True:
        if monotonic() >= by:
            raise TimeoutError("its connection queue is full")
        sleep(0.01)
        sock.settimeout(max(by - monotonic(), 0.001))
        try:
            sock.connect(path)
        except BlockingIOError:
            continue
        return


def wait_for_socket(sock: "sockets.socket", seconds: float) -> None:
    """Wait until the socket takes or has bytes, at most `seconds`."""
    poll = select.poll()
    poll.register(sock, select.POLLIN | select.POLLOUT)
    poll.poll(seconds * 1000)
