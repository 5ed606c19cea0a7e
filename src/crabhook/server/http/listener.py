"""Opens the HTTP port, with the pages for machines that watch this one, and closes it again."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

from aiohttp import web

from crabhook.platforms.claude.write import PATH
from crabhook.server.address import (
    BACKLOG,
    GRACE,
    AddressError,
    HttpAddress,
    PortError,
    TcpAddress,
    Tls,
    parse_address,
)
from crabhook.server.core.intake import AnonymousIntake
from crabhook.server.core.runner import Runner
from crabhook.server.health import Health
from crabhook.server.http.connections import SERVER
from crabhook.server.http.hook_route import HookRoute
from crabhook.server.http.middleware import Answer, Guard, Middleware, Route


@dataclass(frozen=True, slots=True)
class Page:
    """A text that is made anew for each who asks, and the type it has."""

    content: Callable[[], bytes]
    content_type: str


def healthz(health: Health) -> Answer:
    """Return what answers whether the server serves, to anybody: it tells nothing else."""

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        if health.serving:
            return web.Response(text="ok\n", headers=SERVER)
        unfit = HTTPStatus.SERVICE_UNAVAILABLE
        return web.Response(text=f"{health.reason}\n", status=unfit, headers=SERVER)

    return answer


def showing(page: Page) -> Answer:
    """Return what answers with a page."""

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        headers = SERVER | {"Content-Type": page.content_type}
        return web.Response(body=page.content(), headers=headers)

    return answer


NAMED = "HTTP door"
_GREETING = 10.0  # seconds for TLS to begin


@dataclass(frozen=True, slots=True)
class Opening:
    """Where the door is, and who may come in.

    `names` are those it goes by beside its address; `metrics` is the page that
    a monitoring system reads, if there is one.
    """

    address: str
    token: str
    names: Sequence[str] = ()
    tls: Tls | None = None
    metrics: Page | None = None


@asynccontextmanager
async def open_http(
    opening: Opening, runner: Runner, way: AnonymousIntake
) -> AsyncIterator[HttpAddress]:
    """Serve while the context lasts; yields the address as bound.

    Raises AddressError or PortError.
    """
    line = _bound(opening)
    try:
        context = _context(opening.tls)
        middleware = Middleware(
            Guard(opening.token, opening.names), way.complain, runner.witness.stranger
        )
        middleware.routes = {
            PATH: Route("POST", HookRoute(way, middleware.connections).answer),
            "/healthz": Route("GET", healthz(Health(runner)), token=False),
            **({"/metrics": Route("GET", showing(opening.metrics))} if opening.metrics else {}),
        }
        server = await asyncio.get_running_loop().create_server(
            middleware.connections,
            sock=line,
            # As many are taken in before the first of them is heard, or another is let go.
            backlog=min(BACKLOG, max(1, middleware.connections.most // 4)),
            ssl=context,
            ssl_handshake_timeout=_GREETING if context else None,
        )
    except BaseException:
        line.close()
        raise
    watching = asyncio.ensure_future(middleware.connections.watch())
    host, port, *_ = line.getsockname()
    try:
        yield HttpAddress(TcpAddress(host, port), tls=context is not None)
    finally:
        server.close()
        watching.cancel()
        middleware.connections.pre_shutdown()  # those that wait for nothing go at once
        await middleware.connections.shutdown(GRACE)
        await server.wait_closed()


def _bound(opening: Opening) -> socket.socket:
    """Return the listening socket; who can be reached from other machines must have TLS."""
    place = parse_address(opening.address)
    if not isinstance(place, TcpAddress):
        raise AddressError(f"{opening.address!r}: the HTTP door listens on HOST:PORT alone")
    try:
        found = socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        # The hook's usual address is 127.0.0.1, which "localhost" has to lead to as well.
        family, _, _, _, where = min(found, key=lambda one: one[0] != socket.AF_INET)
        if opening.tls is None and not TcpAddress(str(where[0]), place.port).loopback:
            raise PortError(
                f"{place} can be reached from other machines, so the HTTP door needs TLS there: "
                "give --tls-cert and --tls-key, or --http 127.0.0.1:PORT"
            )
        return socket.create_server(where[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        raise PortError(f"the HTTP door cannot listen on {place}: {error}") from error


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
