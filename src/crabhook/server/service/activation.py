"""Serves on sockets that a service manager opened, and sends it notifications.

LISTEN_FDS is the number of inherited sockets, from descriptor 3 on, and LISTEN_PID their process
(sd_listen_fds(3)). gRPC's server cannot use inherited sockets (docs/decisions/0007), so a relay
carries their connections to a port of our own. That port cannot see the client. So a TCP connection
is carried to TCP alone, where the token is needed. A Unix connection is carried only for our own
user and root.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from os import getpid
from pathlib import Path
from typing import Self, TypeAlias

from crabhook.model.errors import CrabhookError
from crabhook.server.address import BACKLOG, Address, TcpAddress, UnixAddress, require_tls
from crabhook.server.relay import BEHIND, Streams, carry, connected, folder_behind
from crabhook.server.unix_socket import peer_of

_FIRST = 3
_SOCKET_VARIABLES = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


class InheritedError(CrabhookError):
    """An inherited descriptor on which we cannot listen."""


def inherited(environment: MutableMapping[str, str]) -> Sequence[socket.socket]:
    """Return the inherited sockets, and remove the variables, so that no child uses them.

    Raises InheritedError for a descriptor that is no listening stream socket.
    """
    pid, count, _ = (environment.pop(name, "") for name in _SOCKET_VARIABLES)
    if pid != str(os.getpid()) or not count.isdecimal():
        return ()
    return tuple(map(_adopted, range(_FIRST, _FIRST + int(count))))


def _adopted(descriptor: int) -> socket.socket:
    what = f"the service manager's descriptor {descriptor}"
    try:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the standard library's
        inherited = socket.socket(fileno=descriptor)
    except OSError as error:
        raise InheritedError(f"{what} cannot be used: {error.strerror}") from error
    listens = False
    with suppress(OSError):
        listens = bool(inherited.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    families = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
    if not listens or inherited.type != socket.SOCK_STREAM or inherited.family not in families:
        inherited.detach()
        raise InheritedError(
            f"{what} is no listening stream socket: in the socket unit use ListenStream= "
            "with a path or HOST:PORT, and leave Accept= off"
        )
    return inherited


def address_of(listening: socket.socket) -> Address:
    """Return the address of an inherited socket."""
    if listening.family == socket.AF_UNIX:
        name = listening.getsockname()
        path = f"@{os.fsdecode(name[1:])}" if isinstance(name, bytes) else name
        return UnixAddress(Path(path))
    host, port = listening.getsockname()[:2]
    return TcpAddress(host, port)


_LOG = logging.getLogger(__name__)


class Relay:
    """Carries connections until `close`; on Unix sockets only those of our user and root."""

    def __init__(self) -> None:
        self._open: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def accepting(self, listening: socket.socket, target: Address) -> AsyncIterator[None]:
        """Carry connections on `listening` to `target`; open connections go on after the context.

        The context's end closes our copy of the socket; the service manager keeps its own.
        """

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._follow((reader, writer), target))
            self._open.add(task)
            task.add_done_callback(self._open.discard)

        server = await asyncio.start_server(accept, sock=listening, backlog=BACKLOG)
        try:
            yield
        finally:
            server.close()

    def close(self) -> None:
        """Cut the open connections."""
        for task in tuple(self._open):
            task.cancel()

    async def _follow(self, near: Streams, target: Address) -> None:
        """Carry one connection until both ends are closed; refuse another user's."""
        sock = near[1].get_extra_info("socket")
        try:
            if sock.family == socket.AF_UNIX and not (peer := peer_of(sock)).is_ours:
                _LOG.warning("turned away a connection of another user, uid %d", peer.uid)
                return
            await carry(near, await connected(target))
        except OSError as error:
            _LOG.warning("a connection could not be carried on to the port: %s", error)
        finally:
            near[1].transport.abort()


OpenPort: TypeAlias = Callable[[Sequence[Address]], AbstractAsyncContextManager[Sequence[Address]]]

_LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def open_behind(
    sockets: Sequence[socket.socket], open_port: OpenPort, *, tls: bool
) -> AsyncIterator[Sequence[Address]]:
    """Serve on inherited sockets while the context lasts; yields their addresses.

    `open_port` opens our own port behind them: a socket in a private folder for Unix sockets, a
    loopback port for TCP. Raises InheritedError or PortError, or an error of `open_port`.
    """
    addresses = [address_of(inherited) for inherited in sockets]
    _check(addresses, tls=tls)
    relay = Relay()
    with folder_behind() as folder:
        wanted: list[Address] = [UnixAddress(Path(folder, BEHIND)), TcpAddress(_LOOPBACK, 0)]
        kinds = {type(address) for address in addresses}
        async with open_port([address for address in wanted if type(address) in kinds]) as bound:
            targets = {type(target): target for target in bound}
            try:
                async with AsyncExitStack() as accepting:
                    for inherited, address in zip(sockets, addresses, strict=True):
                        carried = relay.accepting(inherited, targets[type(address)])
                        await accepting.enter_async_context(carried)
                    yield addresses
            except BaseException:
                relay.close()
                raise
        relay.close()  # after the port, which still sends the replies under way


def _check(addresses: Sequence[Address], *, tls: bool) -> None:
    for address in addresses:
        if isinstance(address, UnixAddress) and not hasattr(socket, "SO_PEERCRED"):
            raise InheritedError(
                f"on this system nobody can tell who connects to {address}: "
                "let crabhook open the socket itself, with --listen"
            )
        require_tls(
            address,
            tls,
            ": give --tls-cert and --tls-key, or let the socket unit listen on 127.0.0.1",
        )


_LOOK_EVERY = 1.0  # seconds between two looks at the status
_NOTIFY_VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")


class ServiceManager:
    """The program that started us and gets our notifications: sd_notify(3).

    `address` is its socket, a path or `@` and an abstract name; empty for none. After `watchdog`
    seconds without a notification it ends us; 0 for never. A datagram that cannot be sent is lost,
    and the server goes on.
    """

    def __init__(self, address: str = "", watchdog: float = 0.0) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self.watchdog = watchdog if address else 0.0
        self._status = ""
        self._sock: socket.socket | None = None
        if address:
            self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._sock.setblocking(False)  # noqa: FBT003 - the standard library's

    @classmethod
    def named_in(cls, environment: MutableMapping[str, str]) -> Self:
        """Return the manager in the variables, and remove them, so that no child uses them."""
        address, usec, pid = (environment.pop(name, "") for name in _NOTIFY_VARIABLES)
        if address and not address.startswith(("/", "@")):
            _LOG.warning("the service manager is not told: %s is no Unix socket", address)
            return cls()
        ours = pid in ("", str(getpid()))
        return cls(address, int(usec) / 1e6 if ours and usec.isdecimal() else 0.0)

    def ready(self, status: str) -> None:
        """Notify that the server takes requests."""
        self._status = status
        self._send("READY=1", f"STATUS={_one_line(status)}")

    def waiting(self, status: str) -> None:
        """Ask for half a minute more to start, and say what the server waits for."""
        self._send("EXTEND_TIMEOUT_USEC=30000000", f"STATUS={_one_line(status)}")

    def stopping(self, status: str) -> None:
        """Notify that the server takes no more requests."""
        self._send("STOPPING=1", f"STATUS={_one_line(status)}")

    async def keep_informed(self, status: Callable[[], str]) -> None:
        """Send each new status, and the watchdog's sign of life, until cancelled.

        It runs in the loop that serves requests, so a blocked loop sends no sign of life.
        """
        loop = asyncio.get_running_loop()
        half = self.watchdog / 2 or float("inf")
        alive_at = loop.time() if self.watchdog else half
        while self._sock is not None:
            await asyncio.sleep(min(_LOOK_EVERY, half))
            if (now := status()) != self._status:
                self._status = now
                self._send(f"STATUS={_one_line(now)}")
            if loop.time() >= alive_at:
                alive_at = loop.time() + half - min(_LOOK_EVERY, half)
                self._send("WATCHDOG=1")

    def close(self) -> None:
        """Send nothing more."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def _send(self, *assignments: str) -> None:
        if self._sock is not None:
            with suppress(OSError):
                self._sock.sendto("\n".join(assignments).encode(), self._address)


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))
