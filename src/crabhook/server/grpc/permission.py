"""PermissionService: takes hooks' requests in, and returns replies."""

import re
from collections.abc import Callable, Mapping
from typing import NoReturn

import grpc

from crabhook.broker.messages import Refusal
from crabhook.broker.restoring import COME_BACK_WITHIN
from crabhook.model.card import Origin, Request, Stance
from crabhook.model.decision import Reply
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, compact_with
from crabhook.platforms import PLATFORMS
from crabhook.server.address import NO_TOKEN, Context, Tokens, admitted
from crabhook.server.core.intake import Intake, deadlines
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.runner import Runner
from crabhook.store.interface import Role
from crabhook.v1 import permission_pb2 as pb
from crabhook.v1.permission_pb2_grpc import PermissionServiceServicer

_TICKET = re.compile(r"[0-9A-Za-z_-]{1,64}")

_STANCES = {
    pb.STANCE_UNSPECIFIED: Stance.GATE,
    pb.STANCE_GATE: Stance.GATE,
    pb.STANCE_COMPANION: Stance.COMPANION,
    pb.STANCE_SUPERVISOR: Stance.SUPERVISOR,
}


def fault_of(message: pb.PermissionRequest, platforms: Mapping[str, object]) -> str:
    """Return what is wrong with a request's envelope, or ""."""
    if not _TICKET.fullmatch(message.request_id):
        return "request_id must be 1 to 64 characters of [0-9A-Za-z_-]"
    if not _TICKET.fullmatch(message.secret):
        return "secret must be 1 to 64 characters of [0-9A-Za-z_-]"
    if message.platform not in platforms:
        known = ", ".join(sorted(platforms))
        return f"platform {message.platform[:40]!r} is not known here; known: {known}"
    return ""


def request_of(
    message: pb.PermissionRequest, event: Event, now: float, wait: float, machine: str = ""
) -> Request:
    """Return the request in `message`, whose payload is `event`.

    It waits `wait` seconds from `now`, or as long as its hook waits. `machine` is the owner of the
    token that the hook showed, if a machine of the team is.
    """
    until, client = deadlines(now, wait, message.wait_ms / 1000), message.client
    return Request(
        id=message.request_id,
        secret=message.secret,
        event=event,
        wait_until=until.wait_until,
        stance=_STANCES.get(message.stance, Stance.GATE),
        origin=Origin(client.host, client.pid, client.user, machine),
        gives_up_at=until.gives_up_at,
        size=len(message.payload),
        when_lost=message.when_lost,
    )


_ALONE, _ALONE_ENDS = b'{"hookSpecificOutput":', b"}\n"


def response_of(reply: Reply, *, confirm: bool) -> pb.PermissionResponse:
    """Return the response: the reply, and the same decision field by field."""
    output = reply.output or {}
    response = pb.PermissionResponse(confirm=confirm)
    _tell(response, output, _TOP_LEVEL)
    specific = output.get("hookSpecificOutput")
    if isinstance(specific, dict):
        _tell(response, specific, _SPECIFIC)
        inner = specific.get("decision")
        updated = specific.get("updatedInput")
        if updated is not None:  # encoded once: it may have megabytes
            response.updated_input_json = compact(updated)
        elif isinstance(inner, dict) and inner.get("updatedInput") is not None:
            response.updated_input_json = compact(inner["updatedInput"])
        if len(output) == 1:  # then standard output already holds its JSON
            whole = reply.stdout[len(_ALONE) : -len(_ALONE_ENDS)].decode("ascii")
        elif updated is not None:
            whole = compact_with(specific, "updatedInput", response.updated_input_json)
        else:
            whole = compact(specific)
        response.hook_specific_output_json = whole
    printed = response.reply  # filled in its place: a message that is handed in is copied
    printed.stdout, printed.exit_code = reply.stdout, reply.exit_code
    printed.stderr = reply.stderr.encode("utf-8", "backslashreplace")
    return response


# The platform's key -> the wire's field, where both are a text or a boolean.
_TOP_LEVEL = {
    "continue": "continue",
    "stopReason": "stop_reason",
    "suppressOutput": "suppress_output",
    "systemMessage": "system_message",
    "decision": "decision",
    "reason": "reason",
}
_SPECIFIC = {
    "hookEventName": "hook_event_name",
    "permissionDecision": "permission_decision",
    "permissionDecisionReason": "permission_decision_reason",
    "additionalContext": "additional_context",
}


def _tell(
    response: pb.PermissionResponse, values: Mapping[str, Value], fields: Mapping[str, str]
) -> None:
    """Set the wire's fields of texts and booleans."""
    for key, value in values.items():
        if (field := fields.get(key)) is None:
            continue
        if isinstance(value, str):  # protobuf takes no lone surrogates; the reply's JSON does
            safe = value if value.isascii() else value.encode("utf-8", "replace").decode()
            setattr(response, field, safe)
        elif isinstance(value, bool):
            setattr(response, field, value)


_STATUS = {
    Refusal.NOT_YOURS: grpc.StatusCode.PERMISSION_DENIED,
    Refusal.SUPERSEDED: grpc.StatusCode.ABORTED,
    Refusal.FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Refusal.SESSION_FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Refusal.UNRECORDED: grpc.StatusCode.FAILED_PRECONDITION,
    Refusal.UNDECIDED: grpc.StatusCode.DEADLINE_EXCEEDED,
    Refusal.OVER: grpc.StatusCode.ALREADY_EXISTS,  # the request has an answer already
    Refusal.CLOSED: grpc.StatusCode.NOT_FOUND,  # no operator is there any more
    Refusal.HANDED_OVER: grpc.StatusCode.UNAVAILABLE,
    Refusal.STANDBY: grpc.StatusCode.UNAVAILABLE,
}
_ELSEWHERE = (Refusal.HANDED_OVER, Refusal.STANDBY)
LEADER = "crabhook-leader"
"""The trailing metadata in which a standby names the leader, HOST:PORT."""


class PermissionPort(PermissionServiceServicer):
    """Passes hooks' requests to one runner.

    `wait` is how many seconds a request may wait for the operator; over TCP a client shows one of
    `tokens`. `lost`: the listener ended, so that calls end against their clients' will.
    """

    def __init__(self, runner: Runner, *, wait: float, tokens: Tokens) -> None:
        self._wait, self._tokens = wait, tokens
        self.lost: Callable[[], bool] = lambda: False
        self._stays = self._grace
        self.switch_to(runner)

    def _grace(self) -> float:
        """Return how many seconds a hook may take to come back, after its listener ended."""
        return COME_BACK_WITHIN if self.lost() else 0.0

    def switch_to(self, runner: Runner) -> None:
        """Pass requests to this runner from now on."""
        self._runner, self._intake = runner, Intake(runner)

    async def RequestPermission(  # noqa: N802 - the wire's name
        self,
        request: pb.PermissionRequest,
        context: Context,
    ) -> pb.PermissionResponse:
        """Take a request in; return the reply, which the hook prints."""
        if (machine := admitted(context, self._tokens)) is None:
            await self._refuse_stranger(context)
        if self._runner.role is Role.STANDBY:  # before the payload is read
            refusal = Refusal.UNRECORDED if self._runner.record_lost else Refusal.STANDBY
            self._runner.witness.refused(refusal)
            await self._turn_away(refusal, context)
        if fault := fault_of(request, PLATFORMS):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, fault)
        try:
            event = PLATFORMS[request.platform].read(request.payload)
        except PayloadError as error:
            return self._unreadable(request, error, machine)
        try:
            asked = request_of(request, event, self._runner.now(), self._wait, machine)
            pending = await self._intake.enter(asked)
            pending.stays = self._stays
            if not pending.over:
                await self._accept(pending, context)
            reply = pending.given or await pending.wait()
        except RefusedError as error:
            await self._turn_away(error.refusal, context)
        return response_of(reply, confirm=pending.confirm)

    async def ConfirmReply(  # noqa: N802 - the wire's name
        self,
        request: pb.ConfirmReplyRequest,
        context: Context,
    ) -> pb.ConfirmReplyResponse:
        """Take a hook's receipt, which says that it has printed its reply."""
        if admitted(context, self._tokens) is None:
            await self._refuse_stranger(context)
        if not self._runner.confirm(request.request_id, request.secret):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "nobody waits for this receipt")
        return pb.ConfirmReplyResponse()

    async def _turn_away(self, refusal: Refusal, context: Context) -> NoReturn:
        """End a call without a reply; a standby names the leader."""
        standby = self._runner.role is Role.STANDBY  # a leader that hands over knows of no next one
        leader = self._runner.leader.hooks if standby and refusal in _ELSEWHERE else ""
        hint = ((LEADER, leader),) if leader else ()
        await context.abort(_STATUS[refusal], str(refusal), hint)
        raise AssertionError  # pragma: no cover - `abort` has raised

    async def _accept(self, pending: PendingCall, context: Context) -> None:
        """Say that the request waits, as soon as it is on record."""
        await pending.recorded()
        if not pending.over:
            try:
                await context.send_initial_metadata(())  # "accepted", as permission.proto says
            except BaseException:
                pending.leave()
                raise

    async def _refuse_stranger(self, context: Context) -> NoReturn:
        """End the call of a client that shows no token of ours."""
        self._runner.witness.stranger()
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)
        raise AssertionError  # pragma: no cover - `abort` has raised

    def _unreadable(
        self, request: pb.PermissionRequest, error: PayloadError, machine: str
    ) -> pb.PermissionResponse:
        """Answer an unreadable input with no opinion, and the reason on standard error."""
        text = f"unreadable input of {len(request.payload)} bytes: {error}"
        self._runner.witness.unread(request.platform)
        self._runner.observe(Event(request.platform, "?", machine=machine), text)
        note = f"crabhook: no opinion: the hook's input could not be read: {error}\n"
        return response_of(Reply(stderr=note), confirm=False)
