"""The permission port behind sockets that a service manager opened, instead of its own.

LISTEN_FDS says how many sockets were handed down, from descriptor 3 on, and LISTEN_PID
for which process they are (sd_listen_fds(3)).  gRPC's Python server opens its own
sockets and can take over none (see docs/decisions/0006), so connections are accepted
here and carried, byte for byte, to a port that gRPC listens on.

A relay hides from the port who has connected.  Therefore a TCP connection is only ever
carried to a TCP port, where the token counts, and a Unix one is taken from our own
user, or root, alone: the kernel says who it is.
"""

import asyncio
import logging
import os
import socket
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Coroutine,
    MutableMapping,
    Sequence,
)
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from crabhook.model.errors import CrabhookError
from crabhook.server.address import BACKLOG, Address, TcpAddress, UnixAddress
from crabhook.server.unix_socket import peer_of

_FIRST = 3
_VARIABLES = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


class InheritedError(CrabhookError):
    """Something was handed down that we cannot listen on."""


def inherited(environment: MutableMapping[str, str]) -> Sequence[socket.socket]:
    """Return the sockets that were handed down, if any were, to us.

    The variables are taken out, and no program of ours inherits the sockets
    in its turn.  Raises InheritedError for what is no listening stream socket.
    """
    pid, count, _ = (environment.pop(name, "") for name in _VARIABLES)
    if pid != str(os.getpid()) or not count.isdecimal():
        return ()
    return tuple(map(_adopted, range(_FIRST, _FIRST + int(count))))


def _adopted(descriptor: int) -> socket.socket:
    what = f"the service manager's descriptor {descriptor}"
    try:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the standard library's
        found = socket.socket(fileno=descriptor)
    except OSError as error:
        raise InheritedError(f"{what} cannot be used: {error.strerror}") from error
    listens = False
    with suppress(OSError):
        listens = bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    families = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
    if not listens or found.type != socket.SOCK_STREAM or found.family not in families:
        found.detach()
        raise InheritedError(
            f"{what} is no listening stream socket: in the socket unit use ListenStream= "
            "with a path or HOST:PORT, and leave Accept= off"
        )
    return found


def address_of(listening: socket.socket) -> Address:
    """Return where clients find an inherited socket."""
    if listening.family == socket.AF_UNIX:
        name = listening.getsockname()
        path = f"@{os.fsdecode(name[1:])}" if isinstance(name, bytes) else name
        return UnixAddress(Path(path))
    host, port = listening.getsockname()[:2]
    return TcpAddress(host, port)


_LOG = logging.getLogger(__name__)

_QUEUE_AGAIN = 0.01  # seconds
_ROOT = 0

_Transport: TypeAlias = asyncio.Transport
_Connect: TypeAlias = Callable[
    [Callable[[], "_End"]], Coroutine[Any, Any, tuple[asyncio.BaseTransport, "_End"]]
]


class Relay:
    """Carries connections until it is closed.

    `users` are the ids of those whose connections on Unix sockets are carried:
    us and root, unless told otherwise.
    """

    def __init__(self, users: Collection[int] | None = None) -> None:
        self.users = (os.getuid(), _ROOT) if users is None else users
        self._open: set[_Transport] = set()
        self._connecting: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<Relay open={len(self._open)}>"

    @asynccontextmanager
    async def accepting(self, listening: socket.socket, target: Address) -> AsyncIterator[None]:
        """Carry what connects to `listening` to `target`, and go on with that after the context.

        The socket is closed at its end; its other holders still have it.
        """
        loop = asyncio.get_running_loop()
        connect = _connector(loop, target)
        server = await loop.create_server(
            lambda: _Near(self, connect), sock=listening, backlog=BACKLOG
        )
        try:
            yield
        finally:
            server.close()

    def close(self) -> None:
        """Cut whatever is still open."""
        for task in tuple(self._connecting):
            task.cancel()
        for transport in tuple(self._open):
            transport.abort()

    def begins(self, transport: _Transport) -> None:
        """Note an end that is open."""
        self._open.add(transport)

    def ends(self, transport: _Transport) -> None:
        """Note an end that is closed."""
        self._open.discard(transport)

    def connects(self, connecting: Coroutine[Any, Any, None]) -> None:
        """Keep hold of a connection's beginning until it is made."""
        task = asyncio.ensure_future(connecting)
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)


class _End(asyncio.Protocol):
    """One end of a connection: what it receives, the other end sends, no faster than it can."""

    def __init__(self, relay: Relay, other: "_End | None" = None) -> None:
        self._relay = relay
        self.other = other
        self.transport: _Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - we only make streams
        self.transport = transport
        self._relay.begins(transport)

    def data_received(self, data: bytes) -> None:
        if self.other and self.other.transport:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.resume_reading()

    def connection_lost(self, _: Exception | None) -> None:
        """Close the other end as well, once it has sent what it was given."""
        if self.transport:
            self._relay.ends(self.transport)
        if self.other and self.other.transport:
            self.other.transport.close()


class _Near(_End):
    """The end that a client has connected to; the far one is made for it."""

    def __init__(self, relay: Relay, connect: _Connect) -> None:
        super().__init__(relay)
        self._connect = connect

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None  # noqa: S101 - as above
        line = self.transport.get_extra_info("socket")
        if line.family == socket.AF_UNIX and (user := peer_of(line).uid) not in self._relay.users:
            _LOG.warning("turned away a connection of another user, uid %d", user)
            self.transport.abort()
            return
        self.transport.pause_reading()
        self._relay.connects(self._connect_on(self.transport))

    async def _connect_on(self, transport: _Transport) -> None:
        try:
            _, self.other = await self._connect(lambda: _End(self._relay, self))
        except OSError as error:
            _LOG.warning("a connection could not be carried on to the port: %s", error)
            transport.abort()
            return
        if transport.is_closing() and self.other.transport:
            self.other.transport.close()
        transport.resume_reading()


def _connector(loop: asyncio.AbstractEventLoop, target: Address) -> _Connect:
    if isinstance(target, UnixAddress):
        return partial(_connect_unix, loop, str(target.path))
    return lambda make: loop.create_connection(make, target.host, target.port)


async def _connect_unix(
    loop: asyncio.AbstractEventLoop, path: str, make: Callable[[], "_End"]
) -> tuple[asyncio.BaseTransport, "_End"]:
    """Connect; where too many queue up already, a little later.

    asyncio takes what the kernel says of a full queue for a connection begun.
    """
    line = socket.socket(socket.AF_UNIX)
    line.setblocking(False)  # noqa: FBT003 - the standard library's
    try:
        while True:
            try:
                line.connect(path)
            except BlockingIOError:
                await asyncio.sleep(_QUEUE_AGAIN)
            else:
                return await loop.create_unix_connection(make, sock=line)
    except BaseException:
        line.close()
        raise


OpenPort: TypeAlias = Callable[[Sequence[Address]], AbstractAsyncContextManager[Sequence[Address]]]

_LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def open_behind(
    sockets: Sequence[socket.socket], open_port: OpenPort, *, tls: bool
) -> AsyncIterator[Sequence[Address]]:
    """Serve on the sockets while the context lasts; yields where clients find them.

    `open_port` opens our own port behind them: a socket in a private folder
    for the Unix ones, a port of the loopback for those of TCP, whose clients
    show the token there as everywhere.  Raises InheritedError, or what
    `open_port` raises.
    """
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - slow, and few servers come here

    addresses = [address_of(one) for one in sockets]
    _check(addresses, tls=tls)
    relay = Relay()
    # A folder that we alone can enter, where names of sockets are short enough.
    place = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"  # noqa: S108 - the folder in it is ours alone
    with TemporaryDirectory(prefix="crabhook-", dir=place) as folder:
        wanted: list[Address] = [UnixAddress(Path(folder, "s")), TcpAddress(_LOOPBACK, 0)]
        kinds = {type(address) for address in addresses}
        async with open_port([one for one in wanted if type(one) in kinds]) as bound:
            targets = {type(target): target for target in bound}
            try:
                async with AsyncExitStack() as accepting:
                    for one, address in zip(sockets, addresses, strict=True):
                        carried = relay.accepting(one, targets[type(address)])
                        await accepting.enter_async_context(carried)
                    yield addresses
            except BaseException:
                relay.close()
                raise
        relay.close()  # only now: gRPC has given the replies that were under way


def _check(addresses: Sequence[Address], *, tls: bool) -> None:
    for address in addresses:
        if isinstance(address, UnixAddress) and not hasattr(socket, "SO_PEERCRED"):
            raise InheritedError(
                f"on this system nobody can tell who connects to {address}: "
                "let crabhook open the socket itself, with --listen"
            )
        if isinstance(address, TcpAddress) and not (tls or address.loopback):
            raise InheritedError(
                f"{address} can be reached from other machines, so it needs TLS: "
                "give --tls-cert and --tls-key, or let the socket unit listen on 127.0.0.1"
            )
