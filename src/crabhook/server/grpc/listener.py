"""Opens the permission port: gRPC's options, the addresses, and what each of them demands."""

import errno
import os
import resource
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from urllib.parse import quote

import grpc
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server

from crabhook.server.address import (
    GRACE,
    MAX_REQUEST,
    Address,
    PortError,
    TcpAddress,
    Tls,
    UnixAddress,
)
from crabhook.server.grpc.permission import PermissionPort
from crabhook.server.health import HealthPort
from crabhook.server.token import Context
from crabhook.server.unix_socket import SocketFile
from crabhook.v1 import desk_pb2
from crabhook.v1.permission_pb2_grpc import add_PermissionServiceServicer_to_server

MAX_REPLY = 64 << 20

_OPTIONS = (
    # Ten thousand hooks may wait at once; gRPC's own bound is near a thousand.
    ("grpc.server.max_pending_requests", 100_000),
    ("grpc.server.max_pending_requests_hard_limit", 100_000),
    ("grpc.max_receive_message_length", MAX_REQUEST),
    ("grpc.max_send_message_length", MAX_REPLY),
    # Many may come at once, and wait to be taken in: gRPC would cancel them after 30 seconds.
    ("grpc.server_max_unrequested_time_in_server", 3600),
    # A client's machine that went silent is noticed after 30 + 20 seconds; the
    # third option is needed, or gRPC waits a minute more.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.ping_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # Two servers must never share a port: half of the questions would go astray.
    ("grpc.so_reuseport", 0),
)


_WHERE_NOW = (
    "being here or away is no longer said on the agents' port: upgrade crabhook at this end, whose "
    "`here` and `away` go to the desks' port with a key that `crabhook team init` makes"
)


async def _not_here(_: bytes, context: Context) -> bytes:
    """Tell a client of before what to do: who may ask here can say nothing for an operator."""
    return await context.abort(grpc.StatusCode.UNIMPLEMENTED, _WHERE_NOW)


_NOT_HERE = grpc.method_handlers_generic_handler(
    desk_pb2.DESCRIPTOR.services_by_name["DeskService"].full_name,
    {"SetPresence": grpc.unary_unary_rpc_method_handler(_not_here)},
)


@asynccontextmanager
async def open_port(
    service: PermissionPort,
    addresses: Sequence[Address],
    tls: Tls | None = None,
    health: HealthPort | None = None,
) -> AsyncIterator[Sequence[Address]]:
    """Serve on all the addresses while the context lasts; yields them as bound.

    Raises PortError or SocketTakenError, and then listens nowhere.
    """
    _raise_file_limit()
    server = grpc.aio.server(options=_OPTIONS)
    add_PermissionServiceServicer_to_server(service, server)
    server.add_generic_rpc_handlers((_NOT_HERE,))
    if health is not None:
        add_HealthServicer_to_server(health, server)
    with ExitStack() as claims:
        try:
            try:
                bound = [_bind(server, address, tls, claims) for address in addresses]
            finally:
                await server.start()  # gRPC lets go only of what was started
            yield bound
        finally:
            if health is not None:
                health.end()
            await server.stop(GRACE)


def _bind(server: grpc.aio.Server, address: Address, tls: Tls | None, claims: ExitStack) -> Address:
    if isinstance(address, UnixAddress):
        claims.enter_context(SocketFile(address.path))
        before = os.umask(0o177)  # the socket is the owner's alone from its first moment
        try:
            _add(server, address, None)
        finally:
            os.umask(before)
        return address
    if not address.loopback and tls is None:
        raise PortError(
            f"{address} can be reached from other machines, so it needs TLS: "
            "give --tls-cert and --tls-key, or listen on 127.0.0.1"
        )
    port = _add(server, address, tls)
    return TcpAddress(address.host, port)


def _add(server: grpc.aio.Server, address: Address, tls: Tls | None) -> int:
    target = str(address)
    if isinstance(address, UnixAddress):
        target = f"unix:{quote(os.fsencode(address.path))}"  # gRPC decodes it
    try:
        if tls is None:
            return server.add_insecure_port(target)
        pair = (tls.key.read_bytes(), tls.certificate.read_bytes())
        return server.add_secure_port(target, grpc.ssl_server_credentials([pair]))
    except OSError as error:
        raise PortError(f"the TLS files cannot be read: {error}") from error
    except RuntimeError as error:
        raise PortError(f"cannot listen on {address}: {why_not(address) or error}") from error


def why_not(address: Address) -> str:
    """Say in the system's words why nobody can listen there; gRPC has none of its own for it."""
    if isinstance(address, UnixAddress):
        return ""
    with socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET) as line:
        try:
            line.bind((address.host, address.port))
            line.listen()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return "another program listens there: end it, or give another port"
            return error.strerror or str(error)
    return ""


def _raise_file_limit() -> None:
    """Let this process hold as many connections as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):  # some systems say "no limit" and mean another
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
