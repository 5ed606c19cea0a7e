"""Listens for HTTP on a TCP address: the socket, its TLS, and a listener that is watched."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from crabhook.datatypes import frozen
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
from crabhook.server.http.connections import Connections
from crabhook.server.watch import (
    AsyncioListener,
    Heard,
    ListenerWatch,
    heard_at,
    http_talk,
    unverified,
)

_HANDSHAKE = 10.0  # seconds for TLS to begin


@frozen
class ListenerWords:
    """What messages call a listener, the clients that connect to it, and its option."""

    name: str
    clients: str
    option: str


class HttpListener(AsyncioListener):
    """A listening socket for HTTP, which can be opened again; `at` is its address."""

    def __init__(
        self, words: ListenerWords, connections: Connections, context: ssl.SSLContext | None
    ) -> None:
        super().__init__()
        self._words, self._connections, self._context = words, connections, context
        self._own = unverified("http/1.1") if context else None
        self.taken = 0
        self.at = TcpAddress("", 0)

    @property
    def name(self) -> str:
        """Its address, and what it is for."""
        return f"{self._words.name} {self.at}"

    @property
    def clients(self) -> str:
        """Who connects to it, in words."""
        return self._words.clients

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
        """Listen at the same address again. Raises PortError."""
        self.stop_accepting()
        family = socket.AF_INET6 if ":" in self.at.host else socket.AF_INET
        try:
            sock = socket.create_server(
                (self.at.host, self.at.port), family=family, backlog=BACKLOG
            )
        except OSError as error:
            raise PortError(f"{self._words.name} cannot listen on {self.at}: {error}") from error
        await self.open(sock)


@asynccontextmanager
async def serving(
    place: str,
    words: ListenerWords,
    tls: Tls | None,
    connections: Connections,
    watch: ListenerWatch | None,
) -> AsyncIterator[HttpAddress]:
    """Listen at HOST:PORT while the context lasts; yields the bound address.

    Raises AddressError or PortError.
    """
    sock = _bound(place, words, tls)
    try:
        context = _context(tls)
        listener = HttpListener(words, connections, context)
        await listener.open(sock)
    except BaseException:
        sock.close()
        raise
    watching = asyncio.ensure_future(connections.watch())
    if watch is not None:
        watch.add(listener)
    try:
        yield HttpAddress(listener.at, tls=context is not None)
    finally:
        listener.close()
        watching.cancel()
        connections.pre_shutdown()  # idle connections close at once
        await connections.shutdown(GRACE)
        await listener.wait_closed()


def _bound(place: str, words: ListenerWords, tls: Tls | None) -> socket.socket:
    """Return the listening socket at HOST:PORT. Raises AddressError or PortError."""
    address = parse_address(place)
    if not isinstance(address, TcpAddress):
        raise AddressError(f"{place!r}: {words.name} listens on HOST:PORT alone")
    try:
        addresses = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        # The installer's usual address is 127.0.0.1, so "localhost" must mean IPv4 first.
        family, _, _, _, where = min(addresses, key=lambda info: info[0] != socket.AF_INET)
        if tls is None and not TcpAddress(str(where[0]), address.port).loopback:
            raise PortError(
                f"{address} can be reached from other machines, so {words.name} needs TLS there: "
                f"give --tls-cert and --tls-key, or {words.option} 127.0.0.1:PORT"
            )
        return socket.create_server(where[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        raise PortError(f"{words.name} cannot listen on {address}: {error}") from error


def _context(tls: Tls | None) -> ssl.SSLContext | None:
    """Return the server's TLS, None without one. Raises PortError."""
    if tls is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except OSError as error:  # ssl.SSLError is one
        raise PortError(f"the TLS files cannot be used: {error}") from error
    return context
