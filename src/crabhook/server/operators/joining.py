"""Opens the join port: a gRPC server of its own, for a client with the line of an invitation."""

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc

from crabhook.datatypes import frozen
from crabhook.grpcserver import CallServer
from crabhook.server.address import Address, TcpAddress
from crabhook.server.grpc.listener import GrpcListener
from crabhook.server.watch import ListenerWatch, unverified
from crabhook.team.certificates import new_key, passing, plain
from crabhook.team.enrolling import Inviting, InvitingError, JoinPort
from crabhook.team.invitation import Invitation, kept, pin_of, team_of
from crabhook.v1.enrol_pb2_grpc import add_EnrolServiceServicer_to_server

_OPTIONS = (
    ("grpc.max_receive_message_length", 64 << 10),
    ("grpc.max_concurrent_streams", 4),
    ("grpc.so_reuseport", 0),
)
_AT_ONCE = 16  # calls


@frozen
class InvitationAddress:
    """Where an invitation leads to, and where to listen for it: the same port, 0 for any."""

    host: str
    port: int
    listen: str = "[::]"


@asynccontextmanager
async def open_invitation(
    inviting: Inviting, authority: bytes, place: InvitationAddress, now: float
) -> AsyncIterator[tuple[Invitation, JoinPort]]:
    """Listen for the invited person or machine inside the context; `authority` is in PEM.

    The listener's key lives as long, in memory only. The listener is watched: the person who
    invites hears when it ends or does not answer, and it is opened again for the same line. Raises
    InvitingError.
    """
    key, secret = new_key(), secrets.token_bytes(16)
    certificate = passing(key, now)
    pin = pin_of(ssl.PEM_cert_to_DER_cert(certificate.decode()))
    service = JoinPort(inviting, kept(secret), pin)
    demand = grpc.ssl_server_credentials([(plain(key), certificate)])

    def made() -> CallServer:
        server = CallServer(_OPTIONS, _AT_ONCE)
        add_EnrolServiceServicer_to_server(service, server)
        return server

    def bind(server: CallServer, where: Address) -> Address:
        try:
            return TcpAddress(place.listen.strip("[]"), server.add_secure_port(str(where), demand))
        except RuntimeError as error:
            raise InvitingError(
                f"nobody can listen on {where}: end what listens there, or give another with --port"
            ) from error

    listener = GrpcListener(made, bind, unverified(), "the invited")
    watch = ListenerWatch()
    watch.warn, watch.give_up = inviting.tell, service.fail
    watch.add(listener)
    team = team_of(ssl.PEM_cert_to_DER_cert(authority.decode()))
    try:
        await listener.open([TcpAddress(place.listen.strip("[]"), place.port)])
        (bound,) = listener.bound
        assert isinstance(bound, TcpAddress)  # noqa: S101 - as `bind` returns it
        watching = asyncio.ensure_future(watch.keep())
        try:
            yield Invitation(place.host, bound.port, pin, team, secret), service
        finally:
            watching.cancel()
            await listener.close()
    finally:
        service.stop()
