"""The standard gRPC health service: up or down, for whatever watches the port.

Anybody who reaches the port may look: those who check health can seldom show a
token, and what they learn a refused connection would tell as well.  To go on
watching holds a connection, so over TCP it takes the token, and there is room
for a few alone.
"""

import asyncio
from contextlib import suppress

import grpc
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1.health_pb2_grpc import HealthServicer

from crabhook.server.admission import NO_TOKEN, Context, admitted
from crabhook.server.health import Health
from crabhook.v1 import permission_pb2

SERVICES = ("", permission_pb2.DESCRIPTOR.services_by_name["PermissionService"].full_name)
"""What can be asked about: the whole server, and the service that hooks ask."""

WATCHES = 32  # at once
LOOK_EVERY = 1.0  # seconds, as often as the record is seen to


class HealthPort(HealthServicer):  # type: ignore[misc]  # the stubs leave it out
    """Tells one server's health; `token` is what those beyond the Unix socket show to watch it."""

    def __init__(self, health: Health, *, token: str | None) -> None:
        self._health, self._token = health, token
        self._watches = 0
        self._ending = asyncio.Event()

    def __repr__(self) -> str:
        return f"<HealthPort {self._health!r} watches={self._watches}>"

    def end(self) -> None:
        """Tell those who watch that it is over, and let them go: the port is about to close."""
        self._ending.set()

    async def Check(  # noqa: N802 - the wire's name
        self, request: pb.HealthCheckRequest, context: Context
    ) -> pb.HealthCheckResponse:
        """Return how a service is."""
        if request.service not in SERVICES:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no service of this server's")
        return pb.HealthCheckResponse(status=self._status())

    async def List(  # noqa: N802 - the wire's name
        self, _: pb.HealthListRequest, __: Context
    ) -> pb.HealthListResponse:
        """Return how all of them are."""
        now = pb.HealthCheckResponse(status=self._status())
        return pb.HealthListResponse(statuses=dict.fromkeys(SERVICES, now))

    async def Watch(  # noqa: N802 - the wire's name
        self, request: pb.HealthCheckRequest, context: Context
    ) -> None:
        """Tell how a service is, and again whenever that has changed."""
        if not admitted(context, self._token):
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)
        if self._watches >= WATCHES:
            words = f"{WATCHES} watch already: use Check"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, words)
        self._watches += 1
        try:
            await self._tell(request.service in SERVICES, context)
        finally:
            self._watches -= 1

    async def _tell(self, known: bool, context: Context) -> None:  # noqa: FBT001 - one caller, above
        told: int | None = None
        while True:
            ending = self._ending.is_set()  # asked first: it may come during a write
            status = self._status() if known else pb.HealthCheckResponse.SERVICE_UNKNOWN
            if status != told:
                await context.write(pb.HealthCheckResponse(status=status))
                told = status
            if ending:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await self._ending.wait()

    def _status(self) -> pb.HealthCheckResponse.ServingStatus:
        fit = self._health.serving and not self._ending.is_set()
        return pb.HealthCheckResponse.SERVING if fit else pb.HealthCheckResponse.NOT_SERVING
