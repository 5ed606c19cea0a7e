"""The connections of the HTTP port: how many, for how long, and whether the other end is there."""

import asyncio
import logging
import resource
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

SERVER = {"Server": "crabhook"}
"""The header that says who answers, and not which library of which version."""

_WORDS = "crabhook: this is no HTTP, or its head is too long\n"


class Connection(RequestHandler):
    """A connection's protocol, as the library has it but for these answers.

    Its own say which library this is, and of which version, and give back what came in.
    """

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,  # noqa: ARG002 - the library's signature
        message: str | None = None,  # noqa: ARG002 - likewise
    ) -> web.StreamResponse:
        """Return the answer to what could not be read; the connection ends with it."""
        if request.writer.output_size > 0:
            raise ConnectionAbortedError("an answer is under way, and there is no other")
        response = web.Response(status=status, text=_WORDS, headers=SERVER)
        response.force_close()
        return response


MOST = 20_000  # connections: more than may wait for the operator
MOST_STRANGERS = 1024  # of those, who have not shown the token
KNOWN_WITHIN = 5.0  # seconds to show it; then they go where there are more than that
GONE_AFTER = 10.0  # seconds more, after which they go in any case
KEPT = 3630.0  # seconds a connection may be idle; one closed too soon loses the next hook
LOOK_EVERY = 1.0  # seconds between two looks at those that wait

# A machine that went silent is noticed after 30 + 20 seconds, as on the other port.
_SILENCE: Mapping[str, int] = {
    "TCP_KEEPIDLE": 30,
    "TCP_KEEPALIVE": 30,  # what macOS calls it
    "TCP_KEEPINTVL": 10,
    "TCP_KEEPCNT": 2,
    "TCP_USER_TIMEOUT": 20_000,  # milliseconds that what we sent may go unanswered
}

_QUIET = logging.getLogger(f"{__name__}.aiohttp")
_QUIET.disabled = True  # anybody can send what is no HTTP, and fill the log with it


class Connections(web.Server):
    """Makes the protocol of each connection, and keeps count.

    `answer` is called with each request, and cancelled when its connection ends.
    `most` is how many there may be.
    """

    def __init__(self, answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> None:
        super().__init__(
            answer,
            handler_cancellation=True,
            keepalive_timeout=KEPT,
            max_line_size=2048,
            max_field_size=2048,  # a hook's head is a tenth of that, and strangers' add up
            max_headers=32,
            lingering_time=2.0,
            auto_decompress=False,  # a few bytes could become all our memory
            access_log=None,
            logger=_QUIET,
        )
        self.most = room()
        self._open: set[asyncio.Transport] = set()
        self._strangers: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        self._overdue: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        self._waiting: set[asyncio.Transport] = set()
        self._transports: dict[RequestHandler, asyncio.Transport] = {}

    def __repr__(self) -> str:
        strangers = len(self._strangers) + len(self._overdue)
        return f"<Connections {len(self._open)} open, {strangers} of strangers>"

    def __call__(self) -> RequestHandler:
        """Return a connection's protocol, with our bounds or not at all."""
        return Connection(self, loop=self._loop, **self._kwargs)

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        """Take a connection in; where strangers crowd, one that is overdue goes.

        Nobody else does: hundreds of hooks may connect before the first of them is heard.  Only
        where there is no room at all the oldest stranger goes, else silence would keep hooks out.
        """
        super().connection_made(handler, transport)
        self._transports[handler] = transport
        self._open.add(transport)
        if len(self._open) > self.most and not self._one_goes():
            transport.abort()
            return
        # "Drained" is to mean that the kernel has it all, not a buffer of ours.  A transport with
        # TLS pauses at `high`, not above it: at 0 it would wait with nothing left to send.
        tls = transport.get_extra_info("sslcontext") is not None
        transport.set_write_buffer_limits(high=int(tls), low=0)
        notice_silence(transport.get_extra_info("socket"))
        loop = asyncio.get_running_loop()
        self._strangers[transport] = loop.call_later(KNOWN_WITHIN, self._is_overdue, transport)
        if self._overdue and len(self._strangers) + len(self._overdue) > MOST_STRANGERS:
            self._one_goes()

    def connection_lost(self, handler: RequestHandler, exc: BaseException | None = None) -> None:
        """Forget a connection."""
        super().connection_lost(handler, exc)
        if transport := self._transports.pop(handler, None):
            self.known(transport)
            self._open.discard(transport)

    def _one_goes(self) -> bool:
        """Let the stranger go that came first; False where there is none."""
        oldest = next(chain(self._overdue, self._strangers), None)
        if oldest is None:
            return False
        self.known(oldest)
        oldest.abort()
        return True

    def known(self, transport: asyncio.Transport) -> None:
        """Note that a connection's other end has shown the token."""
        for unknown in (self._strangers, self._overdue):
            if alarm := unknown.pop(transport, None):
                alarm.cancel()

    def _is_overdue(self, transport: asyncio.Transport) -> None:
        """Let a stranger go soon, but not yet: a busy loop may have heard it, and not answered."""
        del self._strangers[transport]
        loop = asyncio.get_running_loop()
        self._overdue[transport] = loop.call_later(GONE_AFTER, transport.abort)

    @contextmanager
    def waiting(self, transport: asyncio.Transport) -> Iterator[None]:
        """Watch a connection while a request on it waits for the operator."""
        self._waiting.add(transport)
        try:
            yield
        finally:
            self._waiting.discard(transport)

    async def watch(self) -> None:
        """End the connections whose end is behind all that was sent there; until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for transport in tuple(self._waiting):
                if not transport.is_reading():
                    transport.abort()


def room() -> int:
    """Return how many connections there may be, which leaves some open files to all else here."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, soft * 3 // 4)


def notice_silence(sock: socket.socket | None) -> None:
    """Have the kernel find out when the other end's machine is gone, as far as it can."""
    if sock is None:
        return
    with suppress(OSError):  # it is closed already
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _SILENCE.items():
            if (option := getattr(socket, name, None)) is not None:
                sock.setsockopt(socket.IPPROTO_TCP, option, value)


def transport_of(request: web.BaseRequest) -> asyncio.Transport:
    """Return a request's connection; raises ConnectionError where that has ended."""
    if request.transport is None:
        raise ConnectionResetError("the connection has ended")
    return request.transport
