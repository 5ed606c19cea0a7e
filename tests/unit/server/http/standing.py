"""An HTTP door in the test's own process, and what a client of it sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from crabhook.server.address import HttpAddress, Tokens
from crabhook.server.core.anonymous_intake import AnonymousIntake
from crabhook.server.core.runner import Runner
from crabhook.server.http.listener import NAMED, Opening, Page, open_http
from tests.support.runners import bare_runner

TOKEN = "the-token"
MACHINES = {"a-machines-own": "build1"}
CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash"}


@dataclass
class Standing:
    """An HTTP door that stands open."""

    runner: Runner
    where: HttpAddress
    clients: list[Client] = field(default_factory=list)

    async def connect(self) -> Client:
        """Open a connection."""
        address = self.where.address
        self.clients.append(
            Client(self, *await asyncio.open_connection(address.host, address.port))
        )
        return self.clients[-1]


@dataclass
class Client:
    """One connection."""

    http: Standing
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(
        self, fields: Any = None, line: str = "POST /hooks/claude", **headers: str | None
    ) -> None:
        """Send a request with these headers, or without those that are None.

        `fields` are bytes, or become JSON.
        """
        body = CALL if fields is None else fields
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent: dict[str, str | None] = {
            "Host": str(self.http.where.address),
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Content-Length": str(len(payload)),
        }
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = [f"{name}: {value}" for name, value in sent.items() if value is not None]
        self.writer.write("\r\n".join([f"{line} HTTP/1.1", *head, "", ""]).encode() + payload)

    async def answer(self) -> tuple[int, bytes]:
        """Return the status and the body of the next answer."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        status, *headers = head.strip().split("\r\n")
        named = dict(header.lower().split(": ", 1) for header in headers)
        body = await self.reader.readexactly(int(named["content-length"]))
        return int(status.split()[1]), body

    async def close(self) -> None:
        """Hang up."""
        self.writer.close()
        await asyncio.gather(self.writer.wait_closed(), return_exceptions=True)


@asynccontextmanager
async def standing(
    metrics: Page | None = None,
    wait: float = 60.0,
    runner: Runner | None = None,
    **parts: Any,
) -> AsyncIterator[Standing]:
    """Open an HTTP door on a port of the system's choice; whatever waits is let go at the end.

    `parts` are of the runner behind it, as `bare_runner` takes them, where that is not given.
    """
    runner = runner or bare_runner(**parts)
    intake = AnonymousIntake(runner, wait=wait, named=NAMED)
    clients: list[Client] = []
    try:
        async with open_http(
            Opening("127.0.0.1:0", Tokens(TOKEN, MACHINES.get), metrics=metrics), runner, intake
        ) as where:
            try:
                yield Standing(runner, where, clients)
            finally:
                runner.close()
    finally:
        for client in clients:
            await client.close()


async def until(holds: Any, seconds: float = 60.0) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.01)
