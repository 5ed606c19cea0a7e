"""Watches the server's listeners: each must answer a call of the server's own.

A listener may end, or fall silent, while the process lives on. Hooks then go on by their agents'
rules, and the operator sees an empty screen. So a listener that does not answer is an alarm, and it
is opened again.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Protocol

from crabhook.hook.call import HookCall
from crabhook.hook.wire import MalformedBytes, request_headers
from crabhook.model.errors import CrabhookError
from crabhook.server.address import Address, TcpAddress, UnixAddress

LOOK_EVERY = 1.0  # seconds between two calls
TICKS, TICK = 15, 0.1  # a call waits so many ticks of the loop: a busy loop's ticks are longer
TRIES = 3  # to open a listener anew, before the server ends


class Heard(Enum):
    """What a listener does with a call of our own."""

    ANSWERED = auto()
    NO_PLACE = auto()  # it ends new connections, since too many are open
    SILENT = auto()  # it did not answer in time
    ENDED = auto()  # nothing listens there


class Watched(Protocol):
    """A listener that can be called and opened again."""

    @property
    def name(self) -> str:
        """Its addresses, in words."""

    @property
    def clients(self) -> str:
        """Who connects to it, in words."""

    @property
    def ended(self) -> bool:
        """Whether it ended by itself."""

    @property
    def taken(self) -> int:
        """How many calls it has taken, if it counts them."""

    async def call(self) -> Heard:
        """Call it as a client does; the call may take any time."""

    async def open_anew(self) -> None:
        """End what is left of it and listen at the same addresses. Raises CrabhookError."""


class AsyncioListener:
    """A listener whose connections asyncio accepts, for as long as nobody closes it."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._closing = False

    @property
    def ended(self) -> bool:
        """Whether it ended by itself."""
        return not self._closing and self._server is not None and not self._server.is_serving()

    def stop_accepting(self) -> None:
        """Accept no more connections until it is opened again."""
        if self._server is not None:
            self._server.close()

    def close(self) -> None:
        """Accept no more connections."""
        self._closing = True
        self.stop_accepting()

    async def wait_closed(self) -> None:
        """Wait for the end of the connections."""
        if self._server is not None:
            await self._server.wait_closed()


class ListenerWatch:
    """Calls each listener once a second.

    `warn` shows and records an incident, and `opened_anew` counts it. `renewed` hears of each
    address that is bound again, and `give_up` ends the server with an error.
    """

    def __init__(self) -> None:
        self._listeners: list[Watched] = []
        self._wrong: dict[str, str] = {}
        self.warn: Callable[[str], object] = lambda _text: None
        self.opened_anew: Callable[[], object] = lambda: None
        self.renewed: Callable[[Address], object] = lambda _address: None
        self.give_up: Callable[[CrabhookError], object] = lambda _error: None

    def add(self, listener: Watched) -> None:
        """Watch a listener from the next look on."""
        self._listeners.append(listener)

    @property
    def trouble(self) -> str:
        """The current fault of the listeners; empty without one."""
        return next(iter(self._wrong.values()), "")

    @property
    def silent(self) -> int:
        """How many listeners do not answer now."""
        return len(self._wrong)

    @property
    def ended(self) -> bool:
        """Whether a listener has ended by itself and is not open again yet."""
        return any(listener.ended for listener in self._listeners)

    async def keep(self) -> None:
        """Watch all listeners until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for listener in self._listeners:
                tasks.create_task(self._keep(listener))

    async def _keep(self, listener: Watched) -> None:
        failed = 0
        while True:
            await asyncio.sleep(LOOK_EVERY)
            heard = await _heard(listener)
            if heard is Heard.SILENT:  # once more: the machine may have stood still
                heard = await _heard(listener)
            self._tell(listener, heard)
            if heard in (Heard.ANSWERED, Heard.NO_PLACE):
                failed = 0
                continue
            try:
                await listener.open_anew()
            except CrabhookError as error:
                failed += 1
                if failed == TRIES:
                    self.give_up(error)
                    return
            else:
                self.opened_anew()
                self.warn(f"{listener.name} was opened again: {listener.clients} can connect again")

    def _tell(self, listener: Watched, heard: Heard) -> None:
        """Report a change of what a listener does."""
        name = listener.name
        clients, before = listener.clients.upper(), self._wrong.get(name, "")
        wrong = _WRONG[heard].format(name=name, clients=clients)
        if wrong == before:
            return
        if wrong:
            self._wrong[name] = wrong
        else:
            del self._wrong[name]
        self.warn(wrong or f"{name} answers again")


# Who is kept out comes first: a narrow screen shows the beginning alone.
_WRONG = {
    Heard.ANSWERED: "",
    Heard.NO_PLACE: (
        "{clients} ARE TURNED AWAY: {name} has no place left. See who connects (ss -tp)"
    ),
    Heard.SILENT: "{clients} CANNOT CONNECT: {name} does not answer, and is opened again",
    Heard.ENDED: "{clients} CANNOT CONNECT: {name} has ended, and is opened again",
}


async def _heard(listener: Watched) -> Heard:
    """Call a listener; a listener that takes others' calls meanwhile does answer."""
    if listener.ended:
        return Heard.ENDED
    taken = listener.taken
    calling = asyncio.ensure_future(listener.call())
    for _ in range(TICKS):
        await asyncio.wait([calling], timeout=TICK)
        if calling.done():
            return calling.result()
    calling.cancel()
    await asyncio.wait([calling])
    return Heard.SILENT if listener.taken == taken else Heard.ANSWERED


_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


async def connection(
    address: Address, context: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a listener of our own."""
    if isinstance(address, UnixAddress):
        return await asyncio.open_unix_connection(str(address.path))
    host = _EVERYWHERE.get(address.host, address.host)
    try:
        return await asyncio.open_connection(host, address.port, ssl=context)
    except OSError:
        if address.host != "::":
            raise
        # Where a machine has no IPv6, gRPC listens on IPv4 alone.
        return await asyncio.open_connection("127.0.0.1", address.port, ssl=context)


async def heard_at(
    address: Address,
    context: ssl.SSLContext | None,
    talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bool]],
) -> Heard:
    """Connect and talk; `talk` returns whether there was an answer."""
    try:
        reader, writer = await connection(address, context)
    except (ConnectionRefusedError, FileNotFoundError):
        return Heard.ENDED
    except (OSError, EOFError):
        return Heard.NO_PLACE
    try:
        return Heard.ANSWERED if await talk(reader, writer) else Heard.NO_PLACE
    except OSError:
        return Heard.NO_PLACE
    finally:
        writer.transport.abort()


_HEALTH = "/grpc.health.v1.Health/Check"


async def grpc_talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Make a health call; any status is an answer."""
    secure = writer.get_extra_info("ssl_object") is not None
    headers = request_headers(_HEALTH, "localhost", secure=secure, token="", agent="crabhook")
    call = HookCall(headers, b"")
    writer.write(call.take())
    try:
        while call.status is None:
            if not (data := await reader.read(1 << 16)):
                return False
            call.feed(data)
            writer.write(call.take())
    except MalformedBytes:
        return False
    return True


def http_talk(
    address: TcpAddress,
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bool]]:
    """Return a talk that asks for `/healthz` there."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        host = _EVERYWHERE.get(address.host, address.host)
        named = TcpAddress(host, address.port)
        writer.write(f"GET /healthz HTTP/1.1\r\nHost: {named}\r\n\r\n".encode())
        return (await reader.readline()).startswith(b"HTTP/1.1 ")

    return talk


def unverified(protocol: str = "h2") -> ssl.SSLContext:
    """Return TLS for a call to ourselves: whether a certificate is valid is not asked here."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context
