"""The desks' front door: it bounds, for each address, who connects and has not finished TLS.

gRPC shows no connection before its TLS is done, so silent strangers of one address could take all
places. The door accepts in its place, and carries what begins with TLS to gRPC's socket behind it.
The name of each carrying socket is the client's address, and so is gRPC's name of the peer
(docs/decisions/0044).
"""

import asyncio
import errno
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv6Address

from crabhook.model.card import number_of
from crabhook.server.address import BACKLOG, TcpAddress, UnixAddress
from crabhook.server.relay import carry, connected

FIRST_WITHIN = 2.0  # seconds for the first bytes of TLS
HANDSHAKE_WITHIN = 4.0  # seconds for the rest, after which gRPC ends a connection
NEW, NEW_OF_ADDRESS = 512, 64  # connections that may still be strangers'
OF_ADDRESS = 1024  # connections; many devices may share an address
_LOOK_EVERY = 0.5  # seconds between two looks at the new connections
_AT_ONCE = 16  # connections, before the loop serves others again
_LATER = 1.0  # seconds until the next try, where no file is left for a connection
_FIRST_BYTES = 1 << 12
_TLS = b"\x16"  # a record of the handshake


class Guest:
    """A connection of a client: silent until its first bytes come, then carried by a task."""

    def __init__(self, sock: socket.socket, peer: TcpAddress, since: float) -> None:
        self.sock, self.peer, self.since = sock, peer, since
        self.network = network_of(peer.host)
        self.carried: asyncio.Task[None] | None = None


class Door:
    """Accepts connections at an address, and carries them to the socket `behind`.

    The folder of `behind` is our user's alone. `crowded` hears the address of each connection that
    is ended for want of places.
    """

    def __init__(self, behind: UnixAddress, crowded: Callable[[str], object]) -> None:
        self._behind, self._crowded = behind, crowded
        self._loop = asyncio.get_running_loop()
        self._listening: list[socket.socket] = []
        self._open = Counter[str]()
        self._carried: set[asyncio.Task[None]] = set()
        self._new: dict[str, dict[Guest, None]] = {}  # of each network, the oldest first
        self._in_tls: dict[str, Guest] = {}  # of the new, by the names that gRPC has for them
        self._looks: asyncio.TimerHandle | None = None

    def open(self, address: TcpAddress) -> TcpAddress:
        """Listen at an address, and there alone; return the bound address. Raises OSError."""
        self.close()
        self._listening = listening_at(address)
        for listening in self._listening:
            self._heed(listening)
        return TcpAddress(address.host, self._listening[0].getsockname()[1])

    def close(self) -> None:
        """Accept no more connections; what is open goes on."""
        for listening in self._listening:
            self._loop.remove_reader(listening)
            listening.close()
        self._listening = []

    def know(self, name: str) -> None:
        """Count a client as new no more, since it calls: it has shown its certificate."""
        if guest := self._in_tls.get(name):
            self._no_longer_new(guest)

    async def end(self) -> None:
        """End what is open."""
        for guest in [guest for guests in self._new.values() for guest in guests]:
            self._end(guest)
        carried = tuple(self._carried)
        for task in carried:
            task.cancel()
        await asyncio.gather(*carried, return_exceptions=True)

    def _heed(self, listening: socket.socket) -> None:
        if listening in self._listening:
            listening.setblocking(False)  # noqa: FBT003 - the standard library's
            self._loop.add_reader(listening, self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        """Let in who waits, a few at a time: a flood must not hold up the server's loop."""
        for _ in range(_AT_ONCE):
            try:
                sock, (host, port, *_) = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                self._loop.remove_reader(listening)
                self._loop.call_later(_LATER, self._heed, listening)
                return
            peer = TcpAddress(number_of_ipv4(host), port)
            self._let_in(Guest(sock, peer, self._loop.time()))

    def _let_in(self, guest: Guest) -> None:
        """Wait for a connection's first bytes, if there is a place for it."""
        own = self._new.get(guest.network, {})
        if self._open[guest.network] >= OF_ADDRESS or not self._make_place(own):
            guest.sock.close()
            self._crowded(guest.peer.host)
            return
        self._new.setdefault(guest.network, own)[guest] = None
        self._open[guest.network] += 1
        guest.sock.setblocking(False)  # noqa: FBT003 - the standard library's
        self._loop.add_reader(guest.sock, self._hear, guest)
        self._hear(guest)  # the bytes may have come while the connection waited to be accepted
        if self._looks is None:
            self._looks = self._loop.call_later(_LOOK_EVERY, self._look)

    def _make_place(self, own: dict[Guest, None]) -> bool:
        """Return whether there is a place beside the network's `own`; end another's for it.

        The oldest silent connection goes. A network that has few connections may end another kind
        too, of the network that has most. gRPC works for those, so strangers shall not end each
        other's.
        """
        if len(own) < NEW_OF_ADDRESS and sum(map(len, self._new.values())) < NEW:
            return True
        largest = max(self._new.values(), key=len)
        has_few = 2 * len(own) < len(largest)
        crowd = largest if has_few else own
        oldest = next(iter(crowd)) if has_few else None
        ends = next((guest for guest in crowd if guest.carried is None), oldest)
        if ends is not None:
            self._crowded(ends.peer.host)
            self._end(ends)
        return ends is not None

    def _hear(self, guest: Guest) -> None:
        """Carry a connection whose first bytes are TLS's; end any other."""
        try:
            first = guest.sock.recv(_FIRST_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            first = b""
        if not first.startswith(_TLS):
            self._end(guest)
            return
        self._loop.remove_reader(guest.sock)
        self._in_tls[str(guest.peer)] = guest
        guest.carried = task = self._loop.create_task(self._carry(guest, first))
        self._carried.add(task)
        task.add_done_callback(lambda task: self._left(guest, task))

    async def _carry(self, guest: Guest, first: bytes) -> None:
        try:
            far = await connected(self._behind, str(guest.peer))
        except (FileNotFoundError, ConnectionRefusedError):
            self.close()  # nothing listens behind the door: whoever watches it shall see that
            return
        with suppress(OSError):
            try:
                far[1].write(first)
                near = await asyncio.open_connection(sock=guest.sock)
            except BaseException:
                far[1].transport.abort()
                raise
            try:
                await carry(near, far)
            finally:
                near[1].transport.abort()

    def _look(self) -> None:
        """End who stays silent, and take for a desk whom gRPC would have ended by now."""
        self._looks, now = None, self._loop.time()
        for guest in [guest for guests in self._new.values() for guest in guests]:
            age = now - guest.since
            if guest.carried is None and age >= FIRST_WITHIN:
                self._end(guest)
            elif age >= FIRST_WITHIN + HANDSHAKE_WITHIN:
                self._no_longer_new(guest)
        if self._new:
            self._looks = self._loop.call_later(_LOOK_EVERY, self._look)

    def _end(self, guest: Guest) -> None:
        if guest.carried is None:
            self._loop.remove_reader(guest.sock)
            self._gone(guest)
        else:
            self._no_longer_new(guest)
            guest.carried.cancel()

    def _left(self, guest: Guest, task: asyncio.Task[None]) -> None:
        self._carried.discard(task)
        self._gone(guest)

    def _gone(self, guest: Guest) -> None:
        guest.sock.close()
        self._no_longer_new(guest)
        self._open[guest.network] -= 1
        if not self._open[guest.network]:
            del self._open[guest.network]

    def _no_longer_new(self, guest: Guest) -> None:
        self._in_tls.pop(str(guest.peer), None)
        own = self._new.get(guest.network, {})
        own.pop(guest, None)
        if not own:
            self._new.pop(guest.network, None)


def number_of_ipv4(host: str) -> str:
    """Return a host's number; IPv4's own also where a socket of IPv6 took the connection."""
    number = number_of(host)
    mapped = number.ipv4_mapped if isinstance(number, IPv6Address) else None
    return str(mapped) if mapped else host


def network_of(host: str) -> str:
    """Return what counts as an address: of IPv6 a host has a whole network, its first 64 bits."""
    number = number_of(host.partition("%")[0])
    return number.exploded[:19] if isinstance(number, IPv6Address) else host


def listening_at(address: TcpAddress) -> list[socket.socket]:
    """Return sockets that listen at an address, at all numbers of a name. Raises OSError.

    0.0.0.0 and :: mean both kinds of numbers, as gRPC has them.
    """
    if address.host in ("0.0.0.0", "::") and socket.has_dualstack_ipv6():
        return [
            socket.create_server(
                ("::", address.port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=True
            )
        ]
    numbers = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    listening, port = list[socket.socket](), address.port
    try:
        for family, _, _, _, (host, _, *scope) in numbers:
            try:
                opened = socket.create_server((host, port, *scope), family=family, backlog=BACKLOG)
            except OSError as error:
                # A name may have a number that this machine lacks, as localhost without IPv6.
                if error.errno != errno.EADDRNOTAVAIL or not listening:
                    raise
            else:
                listening.append(opened)
                port = opened.getsockname()[1]
    except BaseException:
        for opened in listening:
            opened.close()
        raise
    return listening
