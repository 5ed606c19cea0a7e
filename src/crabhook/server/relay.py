"""Carries the bytes of a connection to a listener of our own behind it, and back."""

import asyncio
import os
import socket
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from crabhook.server.address import Address, TcpAddress

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

_QUEUE_AGAIN = 0.01  # seconds until the next try at a full queue
_AT_ONCE = 1 << 16  # bytes of one read

_SHORT = 20  # bytes of a folder's path that leave room for a socket with an address as its name
_PREFIX, BEHIND = "crabhook-", "s"  # a folder's name, and the name of the socket in it
_OLD = 60.0  # seconds; a younger folder's server may only begin


def folder_behind() -> "TemporaryDirectory[str]":
    """Return a folder of our user's alone for a listener behind a relay, with a short path.

    The folders of servers that were killed are removed.
    """
    from tempfile import TemporaryDirectory  # slow, and few servers need it

    own = os.environ.get("XDG_RUNTIME_DIR", "")
    place = own if own and len(os.fsencode(own)) <= _SHORT else "/tmp"  # noqa: S108 - the folder in it is ours alone
    for folder in Path(place).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            _remove_dead(folder)
    return TemporaryDirectory(prefix=_PREFIX, dir=place)


def _remove_dead(folder: Path) -> None:
    """Remove a folder of our user's in whose socket nobody listens. Raises OSError."""
    status = folder.lstat()
    ours = status.st_uid == os.getuid() and status.st_mode == stat.S_IFDIR | 0o700
    if not ours or time.time() - status.st_mtime < _OLD:
        return
    with socket.socket(socket.AF_UNIX) as sock:
        sock.setblocking(False)  # noqa: FBT003 - the standard library's
        try:
            sock.connect(os.fspath(folder / BEHIND))
        except ConnectionRefusedError:
            (folder / BEHIND).unlink()
            folder.rmdir()


Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def carry(near: Streams, far: Streams) -> None:
    """Carry bytes both ways until one end closes and the other has all of them."""
    ways = (near[0], far[1]), (far[0], near[1])
    pumps = [asyncio.ensure_future(_pump(*way)) for way in ways]
    try:
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for _, writer in (near, far):
            writer.close()
        await asyncio.gather(near[1].wait_closed(), far[1].wait_closed(), return_exceptions=True)
    finally:
        for pump in pumps:
            pump.cancel()
        far[1].transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy from reader to writer, no faster than the writer drains, until either ends."""
    with suppress(OSError):
        while data := await reader.read(_AT_ONCE):
            writer.write(data)
            await writer.drain()


async def connected(target: Address, name: str = "") -> Streams:
    """Connect; at a Unix socket with a full queue, try again a little later.

    The listener at a Unix socket sees our end as `name` in the socket's folder, if there is a name.
    The module asyncio itself takes the kernel's EAGAIN of a full queue for a connection in
    progress.
    """
    if isinstance(target, TcpAddress):
        return await asyncio.open_connection(target.host, target.port)
    sock = socket.socket(socket.AF_UNIX)
    sock.setblocking(False)  # noqa: FBT003 - the standard library's
    ours = target.path.with_name(name) if name else None
    try:
        if ours:
            sock.bind(os.fspath(ours))
        while True:
            try:
                sock.connect(str(target.path))
            except BlockingIOError:
                await asyncio.sleep(_QUEUE_AGAIN)
            else:
                return await asyncio.open_unix_connection(sock=sock)
    except BaseException:
        sock.close()
        raise
    finally:
        if ours:
            ours.unlink(missing_ok=True)  # a name is of an address and port, which may come again
