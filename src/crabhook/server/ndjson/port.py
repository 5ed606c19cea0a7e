"""Opens the harness bridge's socket, and closes it with everything that is on it."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from crabhook.server.address import Address, AddressError, UnixAddress, parse_address
from crabhook.server.ndjson.connection import LONGEST_LINE, Connection
from crabhook.server.ndjson.entrance import Entrance
from crabhook.server.peer import peer_of
from crabhook.server.port import BACKLOG, GRACE
from crabhook.server.socketfile import SocketFile

_LOG = logging.getLogger(__name__)


@asynccontextmanager
async def with_bridge(
    port: AbstractAsyncContextManager[Sequence[Address]], entrance: Entrance, address: str | None
) -> AsyncIterator[Sequence[Address]]:
    """Open a port, and the bridge beside it where an address is given; yields where both listen."""
    async with port as bound:
        if address is None:
            yield bound
            return
        async with open_bridge(entrance, address) as place:
            yield (*bound, place)


@asynccontextmanager
async def open_bridge(entrance: Entrance, address: str) -> AsyncIterator[Address]:
    """Serve the bridge on `unix:PATH` while the context lasts; yields that address.

    Raises AddressError or SocketTakenError.
    """
    place = parse_address(address)
    if not isinstance(place, UnixAddress):
        raise AddressError(f"{address!r}: the harness bridge listens on unix:PATH alone")
    bridge = Bridge(entrance)
    with SocketFile(place.path), _bound(place) as line:
        server = await asyncio.start_unix_server(
            bridge.accept, sock=line, limit=LONGEST_LINE, backlog=BACKLOG
        )
        try:
            yield place
        finally:
            server.close()
            await bridge.close()
            await server.wait_closed()


def _bound(place: UnixAddress) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)  # the socket is the owner's alone from its first moment
    try:
        line.bind(os.fspath(place.path))
    except BaseException:
        line.close()
        raise
    finally:
        os.umask(before)
    return line


class Bridge:
    """The connections that are open."""

    def __init__(self, entrance: Entrance) -> None:
        self._entrance = entrance
        self._open: dict[asyncio.Task[None], Connection] = {}

    def __repr__(self) -> str:
        return f"<Bridge {len(self._open)} connections>"

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin to follow a connection, if its user may ask here."""
        peer = peer_of(writer.get_extra_info("socket"))
        if not peer.is_ours:
            self._entrance.complain(f"process {peer.pid} of user {peer.uid} was turned away")
            writer.transport.abort()
            return
        connection = Connection(self._entrance, reader, writer, peer.origin)
        task = asyncio.ensure_future(connection.follow())
        self._open[task] = connection
        task.add_done_callback(self._ended)

    async def close(self) -> None:
        """Let answers under way go out, for GRACE seconds; then end every connection."""
        if not self._open:
            return
        under_way = [asyncio.ensure_future(one.answered()) for one in self._open.values()]
        await asyncio.wait(under_way, timeout=GRACE)
        tasks = [*under_way, *self._open]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._open[task]
        if not task.cancelled() and (error := task.exception()):
            _LOG.error("a connection of the harness bridge was lost", exc_info=error)
