"""PermissionService: the port a hook asks on; it takes requests in and gives replies."""

import grpc

from crabhook.broker.messages import Refusal
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.model.reply import Reply
from crabhook.platforms import PLATFORMS
from crabhook.server.core.intake import Intake
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.runner import Runner
from crabhook.server.grpc import codec
from crabhook.server.token import NO_TOKEN, Context, admitted
from crabhook.v1 import permission_pb2 as pb
from crabhook.v1.permission_pb2_grpc import PermissionServiceServicer

_STATUS = {
    Refusal.NOT_YOURS: grpc.StatusCode.PERMISSION_DENIED,
    Refusal.SUPERSEDED: grpc.StatusCode.ABORTED,
    Refusal.FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Refusal.SESSION_FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Refusal.UNRECORDED: grpc.StatusCode.FAILED_PRECONDITION,
    Refusal.UNDECIDED: grpc.StatusCode.DEADLINE_EXCEEDED,
    Refusal.OVER: grpc.StatusCode.ALREADY_EXISTS,  # an answer does, elsewhere
    Refusal.CLOSED: grpc.StatusCode.NOT_FOUND,  # nobody is there
    Refusal.HANDED_OVER: grpc.StatusCode.UNAVAILABLE,
}


class PermissionPort(PermissionServiceServicer):
    """Answers hooks from one runner.

    `wait` is how long a request may wait for the operator, seconds; `token`
    is what clients beyond the Unix socket must show.
    """

    def __init__(self, runner: Runner, *, wait: float, token: str | None) -> None:
        self._runner = runner
        self._intake = Intake(runner)
        self._wait = wait
        self._token = token

    async def RequestPermission(  # noqa: N802 - the wire's name
        self,
        request: pb.PermissionRequest,
        context: Context,
    ) -> pb.PermissionResponse:
        """Take a hook's input to the operator; return what the hook is to print."""
        await self._admit(context)
        if fault := codec.fault(request, PLATFORMS):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, fault)
        try:
            event = PLATFORMS[request.platform].read(request.payload)
        except PayloadError as error:
            return self._unreadable(request, error)
        try:
            asked = codec.request(request, event, self._runner.now(), self._wait)
            place = await self._intake.enter(asked)
            reply = await self._wait_in(place, context)
        except RefusedError as error:
            await context.abort(_STATUS[error.refusal], str(error))
        return codec.response(reply, confirm=place.confirm)

    async def ConfirmReply(  # noqa: N802 - the wire's name
        self,
        request: pb.ConfirmReplyRequest,
        context: Context,
    ) -> pb.ConfirmReplyResponse:
        """Note that a hook has printed its reply."""
        await self._admit(context)
        if not self._runner.confirm(request.request_id, request.secret):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "nobody waits for this receipt")
        return pb.ConfirmReplyResponse()

    async def _wait_in(self, place: PendingCall, context: Context) -> Reply:
        if not place.reply.done():
            try:
                await context.send_initial_metadata(())  # "accepted": see the service's comment
            except BaseException:
                place.leave()
                raise
        return await place.wait()

    async def _admit(self, context: Context) -> None:
        """Turn away whoever comes over TCP without the token."""
        if not admitted(context, self._token):
            self._runner.witness.stranger()
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)

    def _unreadable(
        self, request: pb.PermissionRequest, error: PayloadError
    ) -> pb.PermissionResponse:
        """Answer an input nobody can read: no opinion, and the reason where people look for it."""
        text = f"unreadable input of {len(request.payload)} bytes: {error}"
        self._runner.witness.unread(request.platform)
        self._runner.observe(Event(request.platform, "?"), text)
        note = f"crabhook: no opinion: the hook's input could not be read: {error}\n"
        return codec.response(Reply(stderr=note), confirm=False)
