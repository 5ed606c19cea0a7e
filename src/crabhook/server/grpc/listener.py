"""Opens the gRPC port, with its options and the standard health service.

Any client may use the health service's Check, since a health checker can seldom show a token.
Watch holds a connection, so over TCP it needs the token, and the number of watches is bounded.
"""

import asyncio
import errno
import os
import resource
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from enum import StrEnum
from urllib.parse import quote

import grpc
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1.health_pb2_grpc import HealthServicer, add_HealthServicer_to_server

from crabhook.grpcserver import CallServer
from crabhook.server.address import (
    GRACE,
    MAX_REPLY,
    MAX_REQUEST,
    NO_TOKEN,
    Address,
    Context,
    PortError,
    TcpAddress,
    Tls,
    Tokens,
    UnixAddress,
    admitted,
    require_tls,
)
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.unix_socket import claimed, ours_alone
from crabhook.server.watch import Heard, ListenerWatch, grpc_talk, heard_at, unverified
from crabhook.v1 import desk_pb2, permission_pb2
from crabhook.v1.permission_pb2_grpc import add_PermissionServiceServicer_to_server


class Fitness(StrEnum):
    """Whether a server takes requests in, or why it does not."""

    SERVING = "serving"
    ELSEWHERE = "standby"  # another server does
    HANDED_OVER = "handed-over"  # to the next server, where waiting hooks ask again
    CLOSING = "closing"
    SILENT = "listener-silent"  # a listener of this server does not answer
    UNRECORDED = "unrecorded"  # the record cannot be written, so the server takes no request in


class Health:
    """The state of one runner and its record; it holds nothing secret, so any client may see it."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def switch_to(self, runner: Runner) -> None:
        """Tell the state of this runner from now on."""
        self._runner = runner

    def __repr__(self) -> str:
        return f"<Health {self.reason}>"

    @property
    def serving(self) -> bool:
        """Whether the server takes requests in now."""
        return self.reason is Fitness.SERVING

    @property
    def behind(self) -> bool:
        """Whether the export of the record fails; requests are taken in all the same."""
        return bool(self._runner.exporter and self._runner.exporter.failing)

    @property
    def reason(self) -> Fitness:
        """The server's state; of several reasons, a lasting reason before a passing reason."""
        runner, recorder = self._runner, self._runner.recorder
        if runner.elsewhere:
            return Fitness.ELSEWHERE
        if runner.handed_over:
            return Fitness.HANDED_OVER
        if runner.closed:
            return Fitness.CLOSING
        if recorder and recorder.refusal:
            return Fitness.UNRECORDED
        return Fitness.SILENT if runner.silent() else Fitness.SERVING


SERVICES = ("", permission_pb2.DESCRIPTOR.services_by_name["PermissionService"].full_name)
"""The services with a health: the whole server, and the service for hooks."""

WATCHES = 32  # at once
LOOK_EVERY = 1.0  # seconds, as between two looks at the record


class HealthPort(HealthServicer):  # type: ignore[misc]  # the stubs leave it out
    """The standard health service; over TCP a client that watches shows one of `tokens`."""

    def __init__(self, health: Health, *, tokens: Tokens) -> None:
        self._health, self._tokens = health, tokens
        self._watches = 0
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Report to all watches that the port closes, and end them."""
        self._ending.set()

    async def Check(  # noqa: N802 - the wire's name
        self, request: pb.HealthCheckRequest, context: Context
    ) -> pb.HealthCheckResponse:
        """Return the health of one service."""
        if request.service not in SERVICES:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no service of this server's")
        return pb.HealthCheckResponse(status=self._status())

    async def List(  # noqa: N802 - the wire's name
        self, _: pb.HealthListRequest, __: Context
    ) -> pb.HealthListResponse:
        """Return the health of all services."""
        now = pb.HealthCheckResponse(status=self._status())
        return pb.HealthListResponse(statuses=dict.fromkeys(SERVICES, now))

    async def Watch(  # noqa: N802 - the wire's name
        self, request: pb.HealthCheckRequest, context: Context
    ) -> None:
        """Report the health of one service, and each change of it."""
        if admitted(context, self._tokens) is None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)
        if self._watches >= WATCHES:
            words = f"{WATCHES} watch already: use Check"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, words)
        self._watches += 1
        try:
            await self._report(request.service in SERVICES, context)
        finally:
            self._watches -= 1

    async def _report(self, is_known: bool, context: Context) -> None:  # noqa: FBT001 - one caller, above
        sent: int | None = None
        while True:
            ending = self._ending.is_set()  # read first: it may be set during the write
            status = self._status() if is_known else pb.HealthCheckResponse.SERVICE_UNKNOWN
            if status != sent:
                await context.write(pb.HealthCheckResponse(status=status))
                sent = status
            if ending:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await self._ending.wait()

    def _status(self) -> pb.HealthCheckResponse.ServingStatus:
        fit = self._health.serving and not self._ending.is_set()
        return pb.HealthCheckResponse.SERVING if fit else pb.HealthCheckResponse.NOT_SERVING


_OPTIONS = (
    # Ten thousand hooks may wait at once; gRPC's default bound is near a thousand.
    ("grpc.server.max_pending_requests", 100_000),
    ("grpc.server.max_pending_requests_hard_limit", 100_000),
    ("grpc.max_receive_message_length", MAX_REQUEST),
    ("grpc.max_send_message_length", MAX_REPLY),
    # Many hooks may connect at once; by default gRPC cancels calls that queue for 30 seconds.
    ("grpc.server_max_unrequested_time_in_server", 3600),
    # A silent client's connection ends after 30 + 20 seconds; without the third option gRPC waits
    # a minute more.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.ping_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # A hook with a list of servers sends a PING every two seconds.
    ("grpc.http2.min_ping_interval_without_data_ms", 1_000),
    # A client that connects and sends nothing is dropped; by default gRPC waits two minutes.
    ("grpc.server_handshake_timeout_ms", 30_000),
    # A connection without a call is not ended: gRPC's watch over that takes 2.6 kB of each that
    # waits, and whoever wants the places comes back. `_most` bounds them.
    # Two servers must never share a port: each would get half of the requests.
    ("grpc.so_reuseport", 0),
)
CONNECTIONS = 20_000
"""At one address, with a token or without: more than may wait for the operator."""


def _most() -> int:
    """Return how many connections an address takes; files are left for the other addresses."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = max(soft - 1024, soft // 2)
    return CONNECTIONS if soft == resource.RLIM_INFINITY else min(CONNECTIONS, files)


_WHERE_NOW = (
    "being here or away is no longer said on the agents' port. Upgrade crabhook at this end. Its "
    "`here` and `away` go to the desks' port with a key that `crabhook team init` makes"
)


async def _not_here(_: bytes, context: Context) -> bytes:
    """Refuse an older client's presence call: this port's clients may not act for an operator."""
    return await context.abort(grpc.StatusCode.UNIMPLEMENTED, _WHERE_NOW)


_DESK_SERVICE = desk_pb2.DESCRIPTOR.services_by_name["DeskService"].full_name
_NOT_HERE = {"SetPresence": grpc.unary_unary_rpc_method_handler(_not_here)}


@asynccontextmanager
async def open_port(
    service: PermissionPort,
    addresses: Sequence[Address],
    tls: Tls | None = None,
    health: HealthPort | None = None,
    watch: ListenerWatch | None = None,
) -> AsyncIterator[Sequence[Address]]:
    """Listen on all addresses while the context lasts; yields the bound addresses.

    Raises PortError or SocketTakenError, and then listens on none.
    """
    _raise_file_limit()
    most = ("grpc.max_allowed_incoming_connections", _most())

    def made() -> CallServer:
        server = CallServer((*_OPTIONS, most))
        add_PermissionServiceServicer_to_server(service, server)
        server.serve(_DESK_SERVICE, _NOT_HERE)
        if health is not None:
            add_HealthServicer_to_server(health, server)
        return server

    with ExitStack() as claims:
        for address in addresses:
            if isinstance(address, UnixAddress):
                claims.enter_context(claimed(address.path))
        listener = GrpcListener(
            made,
            lambda server, address: _bind(server, address, tls),
            unverified() if tls else None,
        )
        service.lost = lambda: listener.lost
        try:
            await listener.open(addresses)
            if watch is not None:
                watch.add(listener)
                listener.renewed = lambda address: watch.renewed(address)  # noqa: PLW0108 - it is set later
            yield listener.bound
        finally:
            if health is not None:
                health.end()
            await listener.close()


class GrpcListener:
    """A gRPC server at its addresses, which can be opened again.

    `made` returns a new server, and `bind` lets it listen at an address, and returns the bound
    address. `context` is the TLS of a call to ourselves over TCP, None for a listener without TLS.
    `clients` are those who connect to it, in words.
    """

    def __init__(
        self,
        made: Callable[[], CallServer],
        bind: Callable[[CallServer, Address], Address],
        context: ssl.SSLContext | None,
        clients: str = "hooks",
    ) -> None:
        self._made, self._bind, self._context, self.clients = made, bind, context, clients
        self.bound: Sequence[Address] = ()
        self.renewed: Callable[[Address], object] = lambda _address: None
        self._server: CallServer | None = None
        self._closing = False
        self._lost_until = 0.0

    @property
    def name(self) -> str:
        """Its addresses, and who connects there."""
        return f"the listener {', '.join(map(str, self.bound))} for {self.clients}"

    @property
    def ended(self) -> bool:
        """Whether it ended by itself."""
        return not self._closing and self._server is not None and not self._server.running

    @property
    def lost(self) -> bool:
        """Whether calls that end now end with the listener, and not by their clients' will."""
        return self.ended or asyncio.get_running_loop().time() < self._lost_until

    @property
    def taken(self) -> int:
        """How many calls its present server has taken."""
        return self._server.taken if self._server else 0

    async def open(self, addresses: Sequence[Address]) -> None:
        """Listen at these addresses. Raises PortError, and then listens at none."""
        server = self._made()
        try:
            bound = [self._bind(server, address) for address in addresses]
        except BaseException:
            await server.start()  # gRPC frees the addresses of a started server only
            await server.stop(None)
            raise
        await server.start()
        self._server, self.bound = server, bound
        for address in bound:
            self.renewed(address)

    async def close(self) -> None:
        """End, after the replies under way."""
        self._closing = True
        if self._server is not None:
            await self._server.stop(GRACE)

    async def call(self) -> Heard:
        """Make a health call at each address; the worst answer counts."""
        heard = Heard.ANSWERED
        for address in self.bound:
            context = None if isinstance(address, UnixAddress) else self._context
            now = await heard_at(address, context, grpc_talk)
            now = Heard.ENDED if self.ended else now
            heard = now if now is not Heard.ANSWERED else heard
        return heard

    async def open_anew(self) -> None:
        """End what is left, and listen at the same addresses. Raises PortError."""
        self._lost_until = asyncio.get_running_loop().time() + STAYS_LOST
        if self._server is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(STOPPED_WITHIN):
                    await self._server.stop(None)
        await self.open(self.bound)


STAYS_LOST = 5.0  # seconds in which the calls of an ended listener end
STOPPED_WITHIN = 0.5  # seconds


def _bind(server: grpc.aio.Server, address: Address, tls: Tls | None) -> Address:
    if isinstance(address, UnixAddress):
        with ours_alone():
            _add(server, address, None)
        return address
    require_tls(address, tls)
    port = _add(server, address, tls)
    return TcpAddress(address.host, port)


def _add(server: grpc.aio.Server, address: Address, tls: Tls | None) -> int:
    try:
        if tls is None:
            return server.add_insecure_port(target_of(address))
        pair = (tls.key.read_bytes(), tls.certificate.read_bytes())
        return server.add_secure_port(target_of(address), grpc.ssl_server_credentials([pair]))
    except OSError as error:
        raise PortError(f"the TLS files cannot be read: {error}") from error
    except RuntimeError as error:
        why = why_not(address, "--listen") or error
        raise PortError(f"cannot listen on {address}: {why}") from error


def target_of(address: Address) -> str:
    """Return an address as gRPC reads it: the path of a Unix socket is decoded there."""
    if isinstance(address, UnixAddress):
        return f"unix:{quote(os.fsencode(address.path))}"
    return str(address)


def why_not(address: Address, option: str) -> str:
    """Return the system's reason why nobody can listen there, since gRPC's errors name none.

    `option` gives another address.
    """
    if isinstance(address, UnixAddress):
        return ""
    with socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET) as sock:
        try:
            sock.bind((address.host, address.port))
            sock.listen()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return f"another program listens there: end it, or give another port with {option}"
            return error.strerror or str(error)
    return ""


def _raise_file_limit() -> None:
    """Raise this process's limit of open files, and so of connections, to the system's."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # some systems report "no limit" and refuse it
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
