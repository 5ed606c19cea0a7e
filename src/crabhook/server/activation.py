"""The permission port behind sockets that a service manager opened, instead of its own."""

import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from crabhook.server.address import Address, TcpAddress, UnixAddress
from crabhook.server.inherited import InheritedError, address_of
from crabhook.server.relay import Relay

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
    addresses = [address_of(one) for one in sockets]
    _check(addresses, tls=tls)
    relay = Relay()
    with _private_folder() as folder:
        wanted: list[Address] = [UnixAddress(folder / "s"), TcpAddress(_LOOPBACK, 0)]
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


@contextmanager
def _private_folder() -> Iterator[Path]:
    """Make a folder that we alone can enter, where names of sockets are short enough."""
    place = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"  # noqa: S108 - the folder in it is ours alone
    with TemporaryDirectory(prefix="crabhook-", dir=place) as name:
        yield Path(name)
