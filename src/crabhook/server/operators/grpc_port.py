"""OperatorService over gRPC: its messages, and a status for each refusal."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import unquote
from weakref import WeakKeyDictionary

import grpc
from google.protobuf.message import DecodeError

from crabhook.desk.commands import Decide
from crabhook.desk.updates import Cursor
from crabhook.remote.codec import WireError
from crabhook.remote.inputs import PAYLOAD_LIMIT
from crabhook.remote.messages import (
    CALLS,
    card_message,
    command_in,
    event_of,
    events_of,
    response_of,
)
from crabhook.server.address import Context
from crabhook.server.grpc.permission import ASK_INSTEAD
from crabhook.server.operators import refusals
from crabhook.server.operators.authentication import CertificateCaller, Sent, Signature
from crabhook.server.operators.service import (
    Bookmark,
    Gap,
    Hello,
    OpenCall,
    OperatorService,
    SubmittedCommand,
    VisibleChange,
    Watched,
    Whole,
)
from crabhook.server.operators.update_log import LoggedNews
from crabhook.team.call_signature import HEADER, LARGEST
from crabhook.v1 import operator_pb2 as pb

SERVICE = pb.DESCRIPTOR.services_by_name["OperatorService"].full_name
PART = 256 << 10  # bytes

_Code = grpc.StatusCode
STATUS: Mapping[type[refusals.DeskRefusal], grpc.StatusCode] = {
    refusals.Forbidden: _Code.PERMISSION_DENIED,
    refusals.NeedsPresence: _Code.PERMISSION_DENIED,
    refusals.NoRoom: _Code.RESOURCE_EXHAUSTED,
    refusals.Malformed: _Code.INVALID_ARGUMENT,
    refusals.Gone: _Code.NOT_FOUND,
    refusals.StandsBy: _Code.FAILED_PRECONDITION,
}
"""The status by which gRPC tells each refusal."""

T = TypeVar("T")


class OperatorPort:
    """The handlers of OperatorService's calls; `know` hears the name of each peer that calls."""

    def __init__(self, service: OperatorService, know: Callable[[str], object]) -> None:
        self._service, self._know = service, know
        # What goes to many desks as it is becomes an event once, and is forgotten with the log's.
        self._events = WeakKeyDictionary[LoggedNews, pb.WatchEvent]()

    def handlers(self) -> dict[str, "grpc.RpcMethodHandler[Any, Any]"]:
        """Return the handler of each call, by the call's name."""
        watch, card = (
            grpc.unary_stream_rpc_method_handler(answer, asked.FromString, part.SerializeToString)
            for answer, asked, part in (
                (self.watch, pb.WatchRequest, pb.WatchEvent),
                (self.get_card, pb.GetCardRequest, pb.CardPart),
            )
        )
        calls = {
            rpc: grpc.unary_unary_rpc_method_handler(
                partial(self._call, rpc),
                partial(_as_sent, getattr(pb, f"{rpc}Request")),
                getattr(pb, f"{rpc}Response").SerializeToString,
            )
            for rpc in CALLS
        }
        return calls | {"Watch": watch, "GetCard": card}

    async def watch(
        self, request: pb.WatchRequest, context: Context
    ) -> AsyncIterator[pb.WatchEvent]:
        """Send a snapshot, or the changes since the desk's place, and then all changes."""
        after = Cursor(request.store_id, request.after_seq, request.view_tag)
        limit = request.payload_limit or PAYLOAD_LIMIT
        async with (
            self._open(context) as call,
            aclosing(self._service.watch(call, after)) as parts,
        ):
            async for part in parts:
                for event in self._events_of(await _granted(part, context), limit):
                    yield event

    async def get_card(
        self, request: pb.GetCardRequest, context: Context
    ) -> AsyncIterator[pb.CardPart]:
        """Send a whole card."""
        async with self._open(context) as call:
            card = await _granted(await self._service.card(call, request.number), context)
            data = card_message(card, self._service.inputs).SerializeToString()
            for start in range(0, len(data), PART):
                yield pb.CardPart(data=data[start : start + PART])

    async def _call(self, rpc: str, message: tuple[bytes, Any], context: Context) -> Any:  # noqa: ANN401 - messages
        """Carry out a call's command, and return its outcome."""
        raw, request = message
        async with self._open(context) as call:
            try:
                command = command_in(rpc, request)
            except WireError as error:
                await context.abort(_Code.INVALID_ARGUMENT, _sendable(str(error)))
            signed = command.signed if isinstance(command, Decide) else ()
            sent = Sent(rpc, raw, signed)
            asked = SubmittedCommand(command, sent, getattr(request, "seen_sha256", b""))
            reply = await _granted(await self._service.carry_out(call, asked), context)
            response = response_of(rpc, reply.outcome, reply.seq, reply.read)
            if reply.card is not None:
                response.card.CopyFrom(card_message(reply.card, self._service.inputs, 0))
            return response

    @asynccontextmanager
    async def _open(self, context: Context) -> AsyncIterator[OpenCall]:
        # Behind the desks' door a peer's address is the name of its socket in a folder.
        name = unquote(context.peer()).rpartition("/")[2]
        self._know(name)
        with self._service.open(_caller_of(context, name)) as call:
            yield await _granted(call, context)

    def _events_of(self, part: Watched, limit: int) -> Iterable[pb.WatchEvent]:
        """Return the events of one part of a watch, with inputs of at most `limit` bytes."""
        match part:
            case Hello():
                return (_hello(part),)
            case Gap():
                return (pb.WatchEvent(gap=pb.Gap()),)
            case Whole(seq, snapshot):
                last = pb.WatchEvent(seq=seq, snapshot_end=pb.SnapshotEnd())
                return chain(events_of(snapshot, limit, self._service.inputs), (last,))
            case VisibleChange():
                return (self._event(part, limit),)
            case Bookmark(seq, now):
                return (pb.WatchEvent(seq=seq, bookmark=pb.Bookmark(now=now)),)

    def _event(self, change: VisibleChange, limit: int) -> pb.WatchEvent:
        logged, inputs = change.logged, self._service.inputs
        if not change.whole or limit != PAYLOAD_LIMIT:
            return event_of(change.news, logged.seq, limit, inputs)
        event = self._events.get(logged)
        if event is None:
            event = self._events[logged] = event_of(change.news, logged.seq, limit, inputs)
        return event


def _hello(hello: Hello) -> pb.WatchEvent:
    principal = hello.principal
    message = pb.Hello(
        store_id=hello.cursor.store,
        view_tag=hello.cursor.view,
        operator=principal.operator,
        role=principal.role.value,
        seq=hello.cursor.seq,
        now=hello.now,
        resumed=hello.resumed,
        device=principal.device_name.encode("utf-8", "surrogatepass"),
        challenge=hello.challenge,
        part=hello.part,
        leader=hello.desks_at,
    )
    return pb.WatchEvent(hello=message)


async def _granted(answer: T | refusals.DeskRefusal, context: Context) -> T:
    """Return an answer; end the call with the status of a refusal."""
    if isinstance(answer, refusals.DeskRefusal):
        desks_at = answer.desks_at if isinstance(answer, refusals.StandsBy) else None
        beside = () if desks_at is None else ((ASK_INSTEAD, desks_at),)
        await context.abort(STATUS[type(answer)], _sendable(answer.why), beside)
    return answer


def _sendable(why: str) -> str:
    """Return words in a form that gRPC can send with an error."""
    return why.encode("utf-8", "backslashreplace").decode()[:2000]


def _as_sent(message: Any, request: bytes) -> tuple[bytes, Any]:  # noqa: ANN401 - a message's class
    """Return a request raw and parsed."""
    return request, message.FromString(request)


def _caller_of(context: Context, name: str) -> CertificateCaller:
    """Return the proof in a call: its certificate, and a signature of presence."""
    shown = next(iter(context.auth_context().get("x509_pem_cert", ())), b"")
    return CertificateCaller(shown, _signature_in(context), name.rpartition(":")[0].strip("[]"))


def _signature_in(context: Context) -> Signature | None:
    """Return the signature in a call; None where there is none, or it is not readable."""
    for key, value in context.invocation_metadata() or ():
        if key == HEADER and isinstance(value, bytes) and len(value) <= 2 * LARGEST:
            with suppress(DecodeError):
                signed = pb.SignedPresence.FromString(value)
                return Signature(signed.at, signed.signature)
    return None
