"""Opens the join port: a gRPC server of its own, for whoever has the line of one invitation."""

import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc

from crabhook.datatypes import frozen
from crabhook.grpcserver import CallServer
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
_GRACE = 2.0  # seconds for the last answer to be read


@frozen
class Place:
    """Where an invitation leads to, and where to listen for it: the same port, 0 for any."""

    host: str
    port: int
    listen: str = "[::]"


@asynccontextmanager
async def open_invitation(
    inviting: Inviting, authority: bytes, place: Place, now: float
) -> AsyncIterator[tuple[Invitation, JoinPort]]:
    """Listen for the invited person or machine inside the context; `authority` is in PEM.

    The listener's key lives as long, in memory only. Raises InvitingError.
    """
    key, secret = new_key(), secrets.token_bytes(16)
    certificate = passing(key, now)
    pin = pin_of(ssl.PEM_cert_to_DER_cert(certificate.decode()))
    service = JoinPort(inviting, kept(secret), pin)
    server = CallServer(_OPTIONS, _AT_ONCE)
    add_EnrolServiceServicer_to_server(service, server)
    try:
        demand = grpc.ssl_server_credentials([(plain(key), certificate)])
        bound = server.add_secure_port(f"{place.listen}:{place.port}", demand)
        await server.start()
    except RuntimeError as error:
        service.stop()
        raise InvitingError(
            f"nobody can listen on {place.listen}:{place.port}: end what listens there, or give "
            "another with --port"
        ) from error
    team = team_of(ssl.PEM_cert_to_DER_cert(authority.decode()))
    try:
        yield Invitation(place.host, bound, pin, team, secret), service
    finally:
        await server.stop(_GRACE)
        service.stop()
