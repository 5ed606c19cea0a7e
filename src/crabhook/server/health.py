"""Whether this server is fit to serve, and the standard gRPC health service that says so.

Any client may ask once: those who check health can seldom show a token.  To go on watching
holds a connection, so over TCP it takes the token, and there is room for a few alone.
"""

import asyncio
from contextlib import suppress
from enum import StrEnum

import grpc
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1.health_pb2_grpc import HealthServicer

from crabhook.server.core.runner import Runner
from crabhook.server.token import NO_TOKEN, Context, Tokens, admitted
from crabhook.v1 import permission_pb2


class Fitness(StrEnum):
    """How a server is, in a word."""

    SERVING = "serving"
    HANDED_OVER = "handed-over"  # to the next server; what waits is asked again there
    CLOSING = "closing"
    UNRECORDED = "unrecorded"  # what is decided could not be recorded, so nothing is taken in


class Health:
    """How one runner and its record are.  It tells nothing else, so anybody may be told."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def __repr__(self) -> str:
        return f"<Health {self.reason}>"

    @property
    def serving(self) -> bool:
        """Whether a request that comes now is taken in, as the operator wishes it to be."""
        return self.reason is Fitness.SERVING

    @property
    def reason(self) -> Fitness:
        """How it is; what lasts before what may pass."""
        runner, recorder = self._runner, self._runner.recorder
        if runner.handed_over:
            return Fitness.HANDED_OVER
        if runner.closed:
            return Fitness.CLOSING
        return Fitness.UNRECORDED if recorder and recorder.refusal else Fitness.SERVING


SERVICES = ("", permission_pb2.DESCRIPTOR.services_by_name["PermissionService"].full_name)
"""What can be asked about: the whole server, and the service that hooks ask."""

WATCHES = 32  # at once
LOOK_EVERY = 1.0  # seconds, as often as the record is seen to


class HealthPort(HealthServicer):  # type: ignore[misc]  # the stubs leave it out
    """Tells one server's health; who watches from beyond the Unix socket shows one of `tokens`."""

    def __init__(self, health: Health, *, tokens: Tokens) -> None:
        self._health, self._tokens = health, tokens
        self._watches = 0
        self._ending = asyncio.Event()

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
        if admitted(context, self._tokens) is None:
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
