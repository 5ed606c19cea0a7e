"""A harness bridge that is open in this process, and lines to it as a forwarder writes them."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from crabhook.server.address import UnixAddress
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.ndjson.bridge import NAMED, open_bridge
from tests.support.port import BASH, SOON, Opened, short_folder
from tests.support.runners import bare_runner
from tests.support.seat import hears

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


LARGEST = 1 << 24
"""Bytes of the longest answer a test reads."""


class Line:
    """One connection to the bridge."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, *lines: Any) -> None:
        """Write lines: bytes as they are, anything else as JSON with an end."""
        for line in lines:
            data = line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
            self.writer.write(data)
        async with asyncio.timeout(SOON):
            await self.writer.drain()

    async def answer(self) -> Any:
        """Read one answer; None where the bridge has closed the connection."""
        async with asyncio.timeout(SOON):
            line = await self.reader.readline()
        assert not line or line.endswith(b"\n")
        return json.loads(line) if line else None

    async def ask(self, line: Any) -> Any:
        """Write one line and read one answer."""
        await self.send(line)
        return await self.answer()


def envelope(request_id: Any = "r1", payload: Any = None, **fields: Any) -> dict[str, Any]:
    """What a forwarder sends about a hook's input, some of its fields changed."""
    payload = BASH if payload is None else payload
    named = payload if isinstance(payload, dict) else {}
    copies = {key: named[key] for key in ("session_id", "hook_event_name") if key in named}
    return {
        "request_id": request_id,
        "ts": 1_772_000_000_000,
        **copies,
        "payload": payload,
    } | fields


@asynccontextmanager
async def opened_bridge(*, wait: float = 60.0) -> AsyncIterator[Opened]:
    """Open a bridge on a socket of its own; nothing waits any more at the end."""
    with short_folder() as folder:
        runner = bare_runner()
        intake = AnonymousIntake(runner, wait=wait, named=NAMED)
        async with open_bridge(intake, f"unix:{folder}/s") as address:
            port = Opened(runner, (address,))
            stop = hears(runner, port.hears)
            try:
                yield port
            finally:
                stop()
                runner.close()


@asynccontextmanager
async def line_to(port: Opened) -> AsyncIterator[Line]:
    """Connect as a forwarder does; closed with the block."""
    (address,) = port.bound
    assert isinstance(address, UnixAddress)
    reader, writer = await asyncio.open_unix_connection(address.path, limit=LARGEST)
    try:
        yield Line(reader, writer)
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)  # in which the transport lets go of its socket


def notes(port: Opened) -> list[str]:
    """What the feed says."""
    return [entry.text for entry in port.runner.broker.feed()]
