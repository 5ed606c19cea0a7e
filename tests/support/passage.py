"""A port of the loopback inside a network namespace that leads to the same port outside of it.

A Unix socket reaches across namespaces and TCP does not, so the bytes go from one to the other and
back: whatever ends on one side ends on the other.
"""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOOPBACK = "127.0.0.1"


def inside(port: int, path: str) -> None:
    """Listen on the port, as long as this process lives, and lead whoever comes to the socket."""
    door = socket.create_server((LOOPBACK, port))

    def through() -> socket.socket:
        line = socket.socket(socket.AF_UNIX)
        line.connect(path)
        return line

    threading.Thread(target=_lead, args=(door, through), daemon=True).start()


@contextmanager
def outside(port: int, path: Path) -> Iterator[str]:
    """Lead whoever comes to the socket, which is made at `path`, to the port; yield its path."""
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(path))
    door.listen()
    leading = threading.Thread(
        target=_lead, args=(door, lambda: socket.create_connection((LOOPBACK, port)))
    )
    leading.start()
    try:
        yield str(path)
    finally:
        door.shutdown(socket.SHUT_RDWR)
        leading.join(60)
        door.close()


def _lead(door: socket.socket, through: Callable[[], socket.socket]) -> None:
    carrying: list[threading.Thread] = []
    while True:
        try:
            one, _ = door.accept()
        except OSError:
            break  # it is shut
        try:
            other = through()
        except OSError:
            one.close()  # nobody is there, as the one who came will find
            continue
        ends = threading.Barrier(2)
        for source, sink in ((one, other), (other, one)):
            carrying.append(threading.Thread(target=_carry, args=(source, sink, ends), daemon=True))
            carrying[-1].start()
    for thread in carrying:
        thread.join(60)


def _carry(source: socket.socket, sink: socket.socket, ends: threading.Barrier) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    for end in (sink, source):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
    ends.wait(60)
    source.close()
