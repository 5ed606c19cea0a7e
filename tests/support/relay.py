"""A network between a desk and its server, whose connections a test can cut."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Relay:
    """Passes on what comes to its port, until it is cut; then it takes new connections."""

    def __init__(self, to: int) -> None:
        self._to, self.port = to, 0
        self._lines: set[asyncio.StreamWriter] = set()
        self.down = False

    def cut(self) -> None:
        """Break every connection at once."""
        for line in tuple(self._lines):
            line.transport.abort()

    async def pass_on(self, there: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        if self.down:
            back.transport.abort()
            return
        server, to_server = await asyncio.open_connection("127.0.0.1", self._to)
        self._lines |= {back, to_server}
        try:
            await asyncio.gather(_copy(there, to_server), _copy(server, back))
        finally:
            self._lines -= {back, to_server}
            back.transport.abort()
            to_server.transport.abort()


async def _copy(of: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await of.read(1 << 16):
            to.write(data)
            await to.drain()
    to.close()


@asynccontextmanager
async def relay(to: int) -> AsyncIterator[Relay]:
    made = Relay(to)
    server = await asyncio.start_server(made.pass_on, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made
        made.cut()
        await asyncio.sleep(0)
