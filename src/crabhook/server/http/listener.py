"""Opens the HTTP door: `POST /hooks/claude` for hooks, `/healthz` and `/metrics` for monitoring.

A wrong header of our installer is refused, not ignored: a hook that was installed to leave the
agent's dialog alone must not hold its calls.
"""

import asyncio
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from aiohttp import HttpVersion11, StreamReader, web

from crabhook.datatypes import frozen
from crabhook.model.card import Origin, Stance, number_of
from crabhook.model.errors import PayloadError
from crabhook.platforms.claude.write import PATH, STANCE, WAIT, body
from crabhook.server.address import (
    BACKLOG,
    GRACE,
    MAX_REQUEST,
    AddressError,
    HttpAddress,
    PortError,
    TcpAddress,
    Tls,
    Tokens,
    parse_address,
)
from crabhook.server.core.anonymous_intake import TAKEN_WITHIN, AnonymousIntake
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.listener import Health
from crabhook.server.http.connections import SERVER, Connections, transport_of
from crabhook.server.http.middleware import (
    MACHINE,
    Answer,
    HeaderCheck,
    Middleware,
    Route,
    TurnedAwayError,
    turned_away,
)
from crabhook.server.watch import (
    AsyncioListener,
    Heard,
    ListenerWatch,
    heard_at,
    http_talk,
    unverified,
)

READ_WITHIN = 30.0  # seconds for a body; an agent sends it at once


async def read(request: web.BaseRequest) -> bytes:
    """Return a request's body; raises TurnedAwayError where it is too long or of another type.

    A web page's form cannot send the type of JSON without a preflight request. Another type gives
    the operator no notice, since the doctor checks the token with such a request.
    """
    types = request.headers.getall("Content-Type", [])
    if request.content_type != "application/json" or len(types) != 1:
        wrong = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        raise TurnedAwayError(wrong, "the body must be application/json", ends=True)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _unread(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must not be compressed")
    if (request.content_length or 0) > MAX_REQUEST:
        raise _too_long()
    expects = request.headers.get("Expect", "").lower() == "100-continue"
    if expects and request.version >= HttpVersion11 and request.transport:  # HTTP/1.0 has no 100
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        async with asyncio.timeout(READ_WITHIN):
            return await _all(request.content)
    except TimeoutError:
        what = f"the body did not come within {READ_WITHIN:g} seconds"
        raise _unread(HTTPStatus.REQUEST_TIMEOUT, what) from None
    except web.RequestPayloadError as error:
        raise _unread(HTTPStatus.BAD_REQUEST, "the body broke off, or is no HTTP") from error


async def _all(content: StreamReader) -> bytes:
    parts, size = list[bytes](), 0
    while part := await content.readany():
        size += len(part)
        if size > MAX_REQUEST:
            raise _too_long()
        parts.append(part)
    return b"".join(parts)


def _too_long() -> TurnedAwayError:
    return _unread(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {MAX_REQUEST} bytes"
    )


def _unread(status: HTTPStatus, what: str) -> TurnedAwayError:
    return TurnedAwayError(status, what, notice=f"a hook's input was not taken: {what}", ends=True)


_STANCE, _WAIT = STANCE.lower(), WAIT.lower()
_STANCES: Mapping[str, Stance] = {stance.value: stance for stance in Stance}


def hook_headers(headers: Mapping[str, str]) -> tuple[Stance, float]:
    """Return a hook's stance, and how many seconds it waits, 0 if unknown.

    Our installer's headers say it. Raises TurnedAwayError for a wrong one.
    """
    values: dict[str, Any] = {}
    for name, value in headers.items():  # a repeated header comes repeatedly
        field = name.lower()
        if not field.startswith("x-crabhook-"):
            continue
        if field not in (_STANCE, _WAIT):
            raise _wrong(f"of the headers X-Crabhook-… there are {STANCE} and {WAIT}")
        if field in values:
            raise _wrong(f"{name} is there twice")
        if field == _STANCE and value not in _STANCES:
            raise _wrong(f"{STANCE} is one of: {', '.join(_STANCES)}")
        if field == _WAIT and not re.fullmatch("[1-9][0-9]{0,7}", value):
            raise _wrong(f"{WAIT} is a whole number of seconds")
        values[field] = _STANCES[value] if field == _STANCE else float(value)
    return values.get(_STANCE, Stance.GATE), values.get(_WAIT, 0.0)


def _wrong(what: str) -> TurnedAwayError:
    notice = "a request with terms that do not exist was turned away"
    return TurnedAwayError(HTTPStatus.BAD_REQUEST, what, notice=notice)


class HookRoute:
    """Answers hooks, whose connections `connections` watches."""

    def __init__(self, intake: AnonymousIntake, connections: Connections) -> None:
        self._intake, self._connections = intake, connections

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Take a request in; answer with the reply.  Raises TurnedAwayError.

        An unreadable input is refused, which no agent sends: an answer of no opinion would allow a
        call of a hook that fails closed.
        """
        stance, wait = hook_headers(request.headers)
        text = await read(request)
        try:
            event = self._intake.read(text)
        except PayloadError as error:
            what = f"unreadable input of {len(text)} bytes: {error}"
            self._intake.complain(what)
            raise TurnedAwayError(HTTPStatus.BAD_REQUEST, what) from error
        transport = transport_of(request)  # before the call is taken in: nobody would end it
        try:
            pending = await self._intake.enter(
                event, origin(request), len(text), stance=stance, theirs=wait
            )
            with self._connections.waiting(transport):
                reply = await pending.wait()
        except RefusedError as error:
            raise turned_away(error.refusal) from error
        return await self._give(request, pending, body(reply))

    async def _give(
        self, request: web.BaseRequest, pending: PendingCall, answer: bytes
    ) -> web.StreamResponse:
        """Send the answer; it counts as delivered when the kernel has taken all of it."""
        response = web.Response(body=answer, headers=SERVER)
        if answer:
            response.content_type = "application/json"
        transport = transport_of(request)
        try:
            async with asyncio.timeout(TAKEN_WITHIN):
                await response.prepare(request)
                await response.write_eof()
        except TimeoutError:
            transport.abort()
            self._intake.complain("an answer was not read in time; the connection is closed")
            raise ConnectionAbortedError from None
        if not transport.is_closing():
            self._intake.taken(pending)
        return response


def origin(request: web.BaseRequest) -> Origin:
    """Return a request's origin: of it a connection shows the machine alone."""
    host = request.remote or ""
    number = number_of(host.partition("%")[0])
    name = os.uname().nodename if number and number.is_loopback else host
    return Origin(name, machine=MACHINE.get())


@frozen
class Page:
    """A page whose `content` is made anew for each request."""

    content: Callable[[], bytes]
    content_type: str


def healthz(health: Health) -> Answer:
    """Return the handler of `/healthz`, for any client: its answer holds nothing secret."""

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        if health.serving:
            return web.Response(text="ok\n", headers=SERVER)
        unfit = HTTPStatus.SERVICE_UNAVAILABLE
        return web.Response(text=f"{health.reason}\n", status=unfit, headers=SERVER)

    return answer


def showing(page: Page) -> Answer:
    """Return the handler of a page."""

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        headers = SERVER | {"Content-Type": page.content_type}
        return web.Response(body=page.content(), headers=headers)

    return answer


NAMED = "HTTP door"
_HANDSHAKE = 10.0  # seconds for TLS to begin


@frozen
class Opening:
    """The HTTP door's address, tokens and TLS.

    A request may name the door by its address or by one of `names`. `metrics` is the page for a
    monitoring system, if there is one.
    """

    address: str
    tokens: Tokens
    names: Sequence[str] = ()
    tls: Tls | None = None
    metrics: Page | None = None


@asynccontextmanager
async def open_http(
    opening: Opening,
    runner: Runner,
    intake: AnonymousIntake,
    health: Health | None = None,
    watch: ListenerWatch | None = None,
) -> AsyncIterator[HttpAddress]:
    """Listen while the context lasts; yields the bound address.

    Raises AddressError or PortError.
    """
    sock = _bound(opening)
    try:
        context = _context(opening.tls)
        middleware = Middleware(
            HeaderCheck(opening.tokens, opening.names), intake.complain, runner.witness.stranger
        )
        middleware.routes = {
            PATH: Route("POST", HookRoute(intake, middleware.connections).answer),
            "/healthz": Route("GET", healthz(health or Health(runner)), token=False),
            **({"/metrics": Route("GET", showing(opening.metrics))} if opening.metrics else {}),
        }
        listener = HttpListener(middleware.connections, context)
        await listener.open(sock)
    except BaseException:
        sock.close()
        raise
    watching = asyncio.ensure_future(middleware.connections.watch())
    if watch is not None:
        watch.add(listener)
    try:
        yield HttpAddress(listener.at, tls=context is not None)
    finally:
        listener.close()
        watching.cancel()
        middleware.connections.pre_shutdown()  # idle connections close at once
        await middleware.connections.shutdown(GRACE)
        await listener.wait_closed()


class HttpListener(AsyncioListener):
    """The HTTP door's listening socket, which can be opened anew; `at` is its address."""

    clients = "hooks"

    def __init__(self, connections: Connections, context: ssl.SSLContext | None) -> None:
        super().__init__()
        self._connections, self._context = connections, context
        self._own = unverified("http/1.1") if context else None
        self.taken = 0
        self.at = TcpAddress("", 0)

    @property
    def name(self) -> str:
        """Its address, and what it is for."""
        return f"the HTTP door {self.at}"

    async def open(self, sock: socket.socket) -> None:
        """Listen on a socket."""
        self._server = await asyncio.get_running_loop().create_server(
            self._connections,
            sock=sock,
            # The loop accepts as many at once, before it reads from the first or closes another.
            backlog=min(BACKLOG, max(1, self._connections.most // 4)),
            ssl=self._context,
            ssl_handshake_timeout=_HANDSHAKE if self._context else None,
        )
        host, port, *_ = sock.getsockname()
        self.at = TcpAddress(host, port)

    async def call(self) -> Heard:
        """Ask for `/healthz`."""
        return await heard_at(self.at, self._own, http_talk(self.at))

    async def open_anew(self) -> None:
        """Listen at the same address again.  Raises PortError."""
        self.stop_accepting()
        family = socket.AF_INET6 if ":" in self.at.host else socket.AF_INET
        try:
            sock = socket.create_server(
                (self.at.host, self.at.port), family=family, backlog=BACKLOG
            )
        except OSError as error:
            raise PortError(f"the HTTP door cannot listen on {self.at}: {error}") from error
        await self.open(sock)


def _bound(opening: Opening) -> socket.socket:
    """Return the listening socket. Raises AddressError or PortError."""
    address = parse_address(opening.address)
    if not isinstance(address, TcpAddress):
        raise AddressError(f"{opening.address!r}: the HTTP door listens on HOST:PORT alone")
    try:
        addresses = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        # The installer's usual address is 127.0.0.1, so "localhost" must mean IPv4 first.
        family, _, _, _, where = min(addresses, key=lambda info: info[0] != socket.AF_INET)
        if opening.tls is None and not TcpAddress(str(where[0]), address.port).loopback:
            raise PortError(
                f"{address} can be reached from other machines, so the HTTP door needs TLS there: "
                "give --tls-cert and --tls-key, or --http 127.0.0.1:PORT"
            )
        return socket.create_server(where[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        raise PortError(f"the HTTP door cannot listen on {address}: {error}") from error


def _context(tls: Tls | None) -> ssl.SSLContext | None:
    if tls is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except OSError as error:  # ssl.SSLError is one
        raise PortError(f"the TLS files cannot be used: {error}") from error
    return context
