"""Bounds the HTTP door's connections, in number and in time, and notices lost clients."""

import asyncio
import logging
import resource
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

SERVER = {"Server": "crabhook"}
"""The Server header, without the library's name and version."""

_WORDS = "crabhook: this is no HTTP, or its head is too long\n"


class HttpConnection(RequestHandler):
    """The library's protocol for a connection, with our answers to faults.

    The library's own answers name the library and its version, and repeat the client's bytes.
    """

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,  # noqa: ARG002 - the library's signature
        message: str | None = None,  # noqa: ARG002 - likewise
    ) -> web.StreamResponse:
        """Return the answer to unreadable bytes, and end the connection."""
        if request.writer.output_size > 0:
            raise ConnectionAbortedError("an answer is under way, and there is no other")
        response = web.Response(status=status, text=_WORDS, headers=SERVER)
        response.force_close()
        return response


MOST = 20_000  # connections: more than the requests that may wait for the operator
MOST_STRANGERS = 1024  # connections without the token; beyond that, overdue ones are closed
KNOWN_WITHIN = 5.0  # seconds to show the token; then a stranger is overdue
GONE_AFTER = 10.0  # seconds more, after which an overdue stranger is always closed
KEPT = 3630.0  # seconds a connection may be idle; one closed too soon loses the next hook
LOOK_EVERY = 1.0  # seconds between two looks at connections with waiting requests

# A silent client's connection ends after 30 + 20 seconds, as on the gRPC port.
_SILENCE: Mapping[str, int] = {
    "TCP_KEEPIDLE": 30,
    "TCP_KEEPALIVE": 30,  # what macOS calls it
    "TCP_KEEPINTVL": 10,
    "TCP_KEEPCNT": 2,
    "TCP_USER_TIMEOUT": 20_000,  # milliseconds that sent bytes may stay unacknowledged
}

_QUIET = logging.getLogger(f"{__name__}.aiohttp")
_QUIET.disabled = True  # else any local program could fill the log with bytes that are no HTTP


class Connections(web.Server):
    """The open connections, at most `most`; those that showed no token yet are strangers.

    `answer` is called with each request, and cancelled when the connection ends.
    """

    def __init__(self, answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> None:
        super().__init__(
            answer,
            handler_cancellation=True,
            keepalive_timeout=KEPT,
            max_line_size=2048,
            max_field_size=2048,  # a hook sends a tenth of that; strangers could fill our memory
            max_headers=32,
            lingering_time=2.0,
            auto_decompress=False,  # a few bytes could fill our memory
            access_log=None,
            logger=_QUIET,
        )
        self.most = room()
        self._strangers: dict[asyncio.Transport, asyncio.TimerHandle] = {}  # the oldest first
        self._waiting: set[asyncio.Transport] = set()
        self._transports: dict[RequestHandler, asyncio.Transport] = {}

    def __call__(self) -> RequestHandler:
        """Return the protocol of a new connection, with our bounds."""
        return HttpConnection(self, loop=self._loop, **self._kwargs)

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Take a connection in; close an overdue stranger where strangers are too many.

        Other strangers stay, since hundreds of hooks may connect before the server reads the first
        request. Only at the bound of all connections the oldest stranger is closed too: else silent
        clients would keep hooks out.
        """
        super().connection_made(handler, transport)
        self._transports[handler] = transport
        if len(self._transports) > self.most and not self._oldest_goes():
            transport.abort()
            return
        # "Drained" shall mean that the kernel has all bytes. A TLS transport pauses at `high`, not
        # above it: with 0 it would wait though it has nothing to send.
        tls = transport.get_extra_info("sslcontext") is not None
        transport.set_write_buffer_limits(high=int(tls), low=0)
        notice_silence(transport.get_extra_info("socket"))
        loop = asyncio.get_running_loop()
        oldest = next(iter(self._strangers.values()), None)
        # A busy loop may have an overdue stranger's request and no answer yet.
        closes = loop.call_later(KNOWN_WITHIN + GONE_AFTER, transport.abort)
        self._strangers[transport] = closes
        overdue = oldest is not None and oldest.when() <= loop.time() + GONE_AFTER
        if overdue and len(self._strangers) > MOST_STRANGERS:
            self._oldest_goes()

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        super().connection_lost(handler, exc)
        if transport := self._transports.pop(handler, None):
            self.known(transport)

    def _oldest_goes(self) -> bool:
        """Close the oldest stranger; return whether there was one."""
        oldest = next(iter(self._strangers), None)
        if oldest is None:
            return False
        self.known(oldest)
        oldest.abort()
        return True

    def known(self, transport: asyncio.Transport) -> None:
        """Note that a connection is no stranger's any more."""
        if closes := self._strangers.pop(transport, None):
            closes.cancel()

    @contextmanager
    def waiting(self, transport: asyncio.Transport) -> Iterator[None]:
        """Have `watch` look at a connection while a request on it waits for the operator."""
        self._waiting.add(transport)
        try:
            yield
        finally:
            self._waiting.discard(transport)

    async def watch(self) -> None:
        """Close waiting connections that are not read: behind unread bytes no end can be seen."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for transport in tuple(self._waiting):
                if not transport.is_reading():
                    transport.abort()


def room() -> int:
    """Return the bound of connections, which leaves a quarter of the open files to the rest."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, soft * 3 // 4)


def notice_silence(sock: socket.socket | None) -> None:
    """Have the kernel end a connection to a machine that is gone."""
    if sock is None:
        return
    with suppress(OSError):  # it is closed already
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _SILENCE.items():
            if (option := getattr(socket, name, None)) is not None:
                sock.setsockopt(socket.IPPROTO_TCP, option, value)


def transport_of(request: web.BaseRequest) -> asyncio.Transport:
    """Return a request's connection; raises ConnectionError after its end."""
    if request.transport is None:
        raise ConnectionResetError("the connection has ended")
    return request.transport
