"""Opens the operators' port: a gRPC server of its own, for clients that show a certificate."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time

import grpc

from crabhook.grpcserver import CallServer
from crabhook.server.address import MAX_REQUEST, Address, PortError, TcpAddress, UnixAddress
from crabhook.server.grpc.listener import GrpcListener, target_of, why_not
from crabhook.server.operators.door import HANDSHAKE_WITHIN, Door
from crabhook.server.operators.grpc_port import SERVICE, OperatorPort
from crabhook.server.operators.service import OperatorService
from crabhook.server.relay import BEHIND, folder_behind
from crabhook.server.unix_socket import ours_alone
from crabhook.server.watch import ListenerWatch, unverified
from crabhook.team.certificates import new_key, passing, plain

CONNECTIONS = 2048
"""Desks and verbs at once; agents, who come to another port, are kept out by none of these."""

_LARGEST_TO_A_DESK = 64 << 20  # bytes, as desks take

_OPTIONS = (
    # A silent connection holds a place for a while only, and there are CONNECTIONS places.
    ("grpc.max_allowed_incoming_connections", CONNECTIONS),
    ("grpc.server_handshake_timeout_ms", int(HANDSHAKE_WITHIN * 1000)),
    ("grpc.max_receive_message_length", MAX_REQUEST),
    ("grpc.max_send_message_length", _LARGEST_TO_A_DESK),
    ("grpc.max_concurrent_streams", 64),
    # A desk behind NAT keeps its connection alive; gRPC would take more than a ping in five
    # minutes for an attack. A desk that went silent is noticed after 10 + 10 seconds.
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    # A desk always watches: a connection without a call only takes a place.
    ("grpc.max_connection_idle_ms", 120_000),
    # Desks resolve the server's address again at times, as after a move.
    ("grpc.max_connection_age_ms", 3_600_000),
    ("grpc.max_connection_age_grace_ms", 30_000),
    ("grpc.so_reuseport", 0),
)


@asynccontextmanager
async def open_operators(
    service: OperatorService,
    address: TcpAddress,
    pair: tuple[bytes, bytes],
    authority: bytes,
    watch: ListenerWatch | None = None,
) -> AsyncIterator[TcpAddress]:
    """Serve desks while the context lasts, which ends the watches; yields the bound address.

    `pair` is the server's key and certificate, `authority` the certificate of the authority that
    signs the desks', all PEM. Raises PortError.
    """
    # The server calls its own port with a key that only this process has; no team knows it, so
    # it may do nothing but end a handshake and ask how the port is.
    key = new_key()
    own = plain(key), passing(key, time())
    credentials = grpc.ssl_server_credentials(
        [pair], root_certificates=authority + own[1], require_client_auth=True
    )

    def made() -> CallServer:
        server = CallServer(_OPTIONS)
        server.serve(SERVICE, port.handlers())
        return server

    def bind(server: CallServer, where: Address) -> Address:
        assert isinstance(where, TcpAddress)  # noqa: S101 - as `open` below gets it
        try:
            with ours_alone():
                server.add_secure_port(target_of(behind), credentials)
            return door.open(where)
        except (RuntimeError, OSError) as error:
            why = why_not(where, "--operators") or error
            raise PortError(f"cannot listen for desks on {where}: {why}") from error

    try:
        private = folder_behind()
    except OSError as error:
        raise PortError(f"no folder can be made for the desks' port: {error}") from error
    with private as folder:
        behind = UnixAddress(Path(folder, BEHIND))
        door = Door(behind, service.crowded)
        port = OperatorPort(service, door.know)
        listener = GrpcListener(made, bind, _shown(*own), "desks")
        try:
            await listener.open([address])
            if watch is not None:
                watch.add(listener)
            (bound,) = listener.bound
            assert isinstance(bound, TcpAddress)  # noqa: S101 - as `bind` returns it
            yield bound
        finally:
            service.close()
            door.close()
            await listener.close()
            await door.end()


def _shown(key: bytes, certificate: bytes) -> ssl.SSLContext:
    """Return TLS that shows this certificate; it comes from a file of our user's alone."""
    context = unverified()
    with NamedTemporaryFile("wb") as file:
        file.write(key + certificate)
        file.flush()
        context.load_cert_chain(file.name)
    return context
