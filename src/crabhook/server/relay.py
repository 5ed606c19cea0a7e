"""Connections accepted on one socket and carried, byte for byte, to another that gRPC listens on.

gRPC's Python server opens its own sockets and can take over none (see
docs/decisions/0006), so what a service manager opened for us is accepted
here.  A relay hides from the port who has connected.  Therefore a TCP
connection is only ever carried to a TCP port, where the token counts, and a
Unix one is taken from our own user, or root, alone: the kernel says who it is.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeAlias

from crabhook.server.address import Address, UnixAddress
from crabhook.server.peer import peer_of
from crabhook.server.port import BACKLOG

_LOG = logging.getLogger(__name__)

_QUEUE_AGAIN = 0.01  # seconds
_ROOT = 0

_Transport: TypeAlias = asyncio.Transport
_Connect: TypeAlias = Callable[
    [Callable[[], "_End"]], Coroutine[Any, Any, tuple[asyncio.BaseTransport, "_End"]]
]


class Relay:
    """Carries connections until it is closed.

    `users` are the ids of those whose connections on Unix sockets are carried:
    us and root, unless told otherwise.
    """

    def __init__(self, users: Collection[int] | None = None) -> None:
        self.users = (os.getuid(), _ROOT) if users is None else users
        self._open: set[_Transport] = set()
        self._connecting: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<Relay open={len(self._open)}>"

    @asynccontextmanager
    async def accepting(self, listening: socket.socket, target: Address) -> AsyncIterator[None]:
        """Carry what connects to `listening` to `target`, and go on with that after the context.

        The socket is closed at its end; its other holders still have it.
        """
        loop = asyncio.get_running_loop()
        connect = _connector(loop, target)
        server = await loop.create_server(
            lambda: _Near(self, connect), sock=listening, backlog=BACKLOG
        )
        try:
            yield
        finally:
            server.close()

    def close(self) -> None:
        """Cut whatever is still open."""
        for task in tuple(self._connecting):
            task.cancel()
        for transport in tuple(self._open):
            transport.abort()

    def begins(self, transport: _Transport) -> None:
        """Note an end that is open."""
        self._open.add(transport)

    def ends(self, transport: _Transport) -> None:
        """Note an end that is closed."""
        self._open.discard(transport)

    def connects(self, connecting: Coroutine[Any, Any, None]) -> None:
        """Keep hold of a connection's beginning until it is made."""
        task = asyncio.ensure_future(connecting)
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)


class _End(asyncio.Protocol):
    """One end of a connection: what it receives, the other end sends, no faster than it can."""

    def __init__(self, relay: Relay, other: "_End | None" = None) -> None:
        self._relay = relay
        self.other = other
        self.transport: _Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - we only make streams
        self.transport = transport
        self._relay.begins(transport)

    def data_received(self, data: bytes) -> None:
        if self.other and self.other.transport:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.resume_reading()

    def connection_lost(self, _: Exception | None) -> None:
        """Close the other end as well, once it has sent what it was given."""
        if self.transport:
            self._relay.ends(self.transport)
        if self.other and self.other.transport:
            self.other.transport.close()


class _Near(_End):
    """The end that a client has connected to; the far one is made for it."""

    def __init__(self, relay: Relay, connect: _Connect) -> None:
        super().__init__(relay)
        self._connect = connect

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None  # noqa: S101 - as above
        line = self.transport.get_extra_info("socket")
        if line.family == socket.AF_UNIX and (user := peer_of(line).uid) not in self._relay.users:
            _LOG.warning("turned away a connection of another user, uid %d", user)
            self.transport.abort()
            return
        self.transport.pause_reading()
        self._relay.connects(self._connect_on(self.transport))

    async def _connect_on(self, transport: _Transport) -> None:
        try:
            _, self.other = await self._connect(lambda: _End(self._relay, self))
        except OSError as error:
            _LOG.warning("a connection could not be carried on to the port: %s", error)
            transport.abort()
            return
        if transport.is_closing() and self.other.transport:
            self.other.transport.close()
        transport.resume_reading()


def _connector(loop: asyncio.AbstractEventLoop, target: Address) -> _Connect:
    if isinstance(target, UnixAddress):
        return partial(_connect_unix, loop, str(target.path))
    return lambda make: loop.create_connection(make, target.host, target.port)


async def _connect_unix(
    loop: asyncio.AbstractEventLoop, path: str, make: Callable[[], "_End"]
) -> tuple[asyncio.BaseTransport, "_End"]:
    """Connect; where too many queue up already, a little later.

    asyncio takes what the kernel says of a full queue for a connection begun.
    """
    line = socket.socket(socket.AF_UNIX)
    line.setblocking(False)  # noqa: FBT003 - the standard library's
    try:
        while True:
            try:
                line.connect(path)
            except BlockingIOError:
                await asyncio.sleep(_QUEUE_AGAIN)
            else:
                return await loop.create_unix_connection(make, sock=line)
    except BaseException:
        line.close()
        raise
