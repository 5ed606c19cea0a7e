"""Receivers of exported records: syslog over TCP and TLS, and OTLP or JSON lines over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Any

from aiohttp import web

from crabhook.team.certificates import Authority, new_key, plain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

LOOPBACK = "127.0.0.1"


@dataclass
class SyslogSink:
    """A receiver of syslog: `manner` is how it behaves, and `streams` what each connection sent.

    "reads" reads all and closes. "hangs" reads all and never closes, "deaf" reads nothing and never
    closes. "leaves" ends before it has read, "half" after a part, "single" closes after a message.
    """

    manner: str = "reads"
    port: int = 0
    streams: list[bytes] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def messages(self) -> Iterator[str]:
        """The messages of all connections, in order, by their octet counts."""
        for stream in self.streams:
            rest = stream
            while rest:
                length, _, rest = rest.partition(b" ")
                message, rest = rest[: int(length)], rest[int(length) :]
                assert len(message) == int(length), "a message was cut off"
                yield message.decode("utf-8")

    @property
    def numbers(self) -> list[int]:
        """The numbers of the records that came, in order."""
        found = (re.search(r'sequenceId="(\d+)"', message) for message in self.messages())
        return [int(number[1]) for number in found if number]

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self.manner in ("leaves", "half"):
                if self.manner == "half":
                    await reader.readexactly(10)
                # A close would read the rest over TLS, and answer the sender's end with its own.
                writer.transport.abort()
                return
            if self.manner == "deaf":
                await self.over.wait()
                return
            if self.manner == "single":
                length = await reader.readuntil(b" ")
                self.streams.append(length + await reader.readexactly(int(length)))
                return
            self.streams.append(await reader.read())
            if self.manner == "hangs":
                await self.over.wait()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def syslog_sink(
    sink: SyslogSink, context: ssl.SSLContext | None = None
) -> AsyncIterator[SyslogSink]:
    """Open the receiver, at its own port from the second time on."""
    server = await asyncio.start_server(sink.take, LOOPBACK, sink.port, ssl=context)
    sink.port = server.sockets[0].getsockname()[1]
    try:
        yield sink
    finally:
        sink.over.set()
        server.close()
        await asyncio.sleep(0)


@asynccontextmanager
async def swallowing(port: int, after: int) -> AsyncIterator[int]:
    """Somebody on the way to a port: what is sent after so many bytes is read, and goes nowhere.

    The connection then ends towards the sender, as if all had been read. Yields the port.
    """

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to = await asyncio.open_connection(LOOPBACK, port)

        async def back() -> None:
            while data := await there.read(4096):
                writer.write(data)

        returning = asyncio.ensure_future(back())
        left = after
        with suppress(TimeoutError):
            while data := await asyncio.wait_for(reader.read(1 << 16), 0.5):
                to.write(data[: max(0, left)])
                left -= len(data)
        returning.cancel()
        writer.close()
        to.close()

    server = await asyncio.start_server(carry, LOOPBACK, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@dataclass
class HttpSink:
    """A receiver of HTTP: `answers` are statuses and bodies for the next requests, else 200.

    While it is `silent`, it answers nothing.
    """

    answers: list[tuple[int, str, dict[str, str]]] = field(default_factory=list)
    refuses: str = ""
    partly: bool = False
    silent: bool = False
    port: int = 0
    url: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        if self.silent:
            await self.over.wait()
        self.headers.append(dict(request.headers))
        if self.answers:
            status, text, headers = self.answers.pop(0)
            return web.Response(status=status, text=text, headers=headers)
        if self.refuses and self.refuses.encode() in body:
            text = json.dumps({"partialSuccess": {"rejectedSpans": "1", "errorMessage": "no"}})
            return web.Response(status=200 if self.partly else 400, text=text)
        self.bodies.append(body)
        return web.Response(text="{}")

    @property
    def spans(self) -> list[Any]:
        """The spans of all requests, in order."""
        requests = map(json.loads, self.bodies)
        scopes = [scope for r in requests for scope in r["resourceSpans"][0]["scopeSpans"]]
        return [span for scope in scopes for span in scope["spans"]]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the records that came, in order."""
        told = (attribute for span in self.spans for attribute in span["attributes"])
        return [int(a["value"]["intValue"]) for a in told if a["key"] == "crabhook.seq"]


@asynccontextmanager
async def http_sink(
    sink: HttpSink, context: ssl.SSLContext | None = None
) -> AsyncIterator[HttpSink]:
    """Open the receiver, at its own port from the second time on."""
    app = web.Application()
    app.router.add_post("/v1/traces", sink.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, LOOPBACK, sink.port, ssl_context=context)
    await site.start()
    sink.port = runner.addresses[0][1]
    sink.url = f"{'https' if context else 'http'}://{LOOPBACK}:{sink.port}/v1/traces"
    try:
        yield sink
    finally:
        sink.over.set()
        await runner.cleanup()


def opened(sink: SyslogSink | HttpSink) -> AbstractAsyncContextManager[object]:
    """Open a receiver of either kind."""
    return syslog_sink(sink) if isinstance(sink, SyslogSink) else http_sink(sink)


def certified(folder: Path, name: str = LOOPBACK) -> tuple[ssl.SSLContext, Path]:
    """A receiver's TLS by this name, and the file of who signed it."""
    authority, key = Authority.new("receivers", time()), new_key()
    (folder / "ca.pem").write_bytes(authority.certificate)
    (folder / "cert.pem").write_bytes(authority.for_server(key, [name], time()))
    (folder / "key.pem").write_bytes(plain(key))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context, folder / "ca.pem"
