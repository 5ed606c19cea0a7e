"""How a server is, in a file beside its Unix socket, for `crabhook status` to read.

The socket's folder is our user's alone, but agents are our user as well.  So the file proves
nothing: what it tells is shown to people, and decides nothing.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from crabhook.ownfile import read_own, write_own
from crabhook.server.unix_socket import identity

LOOK_EVERY = 1.0  # seconds
_LARGEST = 1 << 16  # bytes

Told: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Status:
    """How a server is: where it listens, how many cards wait, how many desks are attached.

    `role`: whether it serves by itself, or leads or follows others.
    """

    pid: int
    waiting: int
    desks: int
    listening: tuple[str, ...]
    role: str = "alone"


def status_file(socket: Path) -> Path:
    """Return where the server on a socket tells how it is."""
    return socket.with_name(f"{socket.name}.status")


def read_status(socket: Path) -> Told:
    """Return what the server on a socket told last; nothing where that cannot be read."""
    with suppress(OSError, ValueError):
        told = json.loads(read_own(status_file(socket), _LARGEST))
        if isinstance(told, dict):
            return told
    return {}


async def keep_status(
    socket: Path, listening: Sequence[object], status: Callable[[], tuple[int, int]]
) -> None:
    """Write how the server is whenever that, or the file, has changed; at the end, remove the file.

    `status` returns how many cards wait, and how many desks are attached.
    """
    path, told = status_file(socket), Status(0, 0, 0, ())
    where, written = tuple(map(str, listening)), None
    try:
        while True:
            now = Status(os.getpid(), *status(), where)
            if now != told or identity(path) != written:
                with suppress(OSError):  # agents are served all the same
                    content = f"{json.dumps(asdict(now))}\n".encode()
                    await asyncio.to_thread(write_own, path, content)
                told, written = now, identity(path)
            await asyncio.sleep(LOOK_EVERY)
    finally:
        path.unlink(missing_ok=True)
