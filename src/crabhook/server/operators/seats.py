"""Who calls: the certificate and the signature that a call shows, looked up at each call."""

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, TypeAlias
from urllib.parse import unquote

import grpc
from google.protobuf.message import DecodeError

from crabhook.bounded import Bounded
from crabhook.model.actor import Operator, ShownBy
from crabhook.server.address import Context
from crabhook.server.metrics.tally import TurnedAway, Witness
from crabhook.team.membership import Facts, Identified, Refused, Seat, Team, Verb
from crabhook.team.presence import HEADER, LARGEST, Call, opened_by
from crabhook.v1 import operator_pb2 as pb

OF_DEVICE, FROM_ADDRESS = 256, 1024  # calls that are open at once; many may share an address
REFUSALS_KEPT, RECORDED_EVERY = 64, 60.0  # of one kind in so many seconds, one is on record

if TYPE_CHECKING:
    _Interceptor: TypeAlias = grpc.aio.ServerInterceptor[Any, Any]
else:  # at run time it takes no types
    _Interceptor = grpc.aio.ServerInterceptor

_LATEST = 1e11  # seconds: what fits the bytes that are signed
_NOT_ANY_MORE = Refused("what this device may do has changed meanwhile; nothing was done")


class House(Protocol):
    """Where it is told who was turned away."""

    witness: Witness

    def now(self) -> float:
        """Return the time on desks' clocks, seconds."""

    def warn(self, text: str, *, alarm: bool = True) -> None:
        """Show and record that something was done to the server itself."""


class Sent(NamedTuple):
    """A call's name, and its request as it came: what presence is signed over."""

    rpc: str
    request: bytes


class Caller(NamedTuple):
    """What a call showed of who makes it: a certificate, PEM, a signature, a network address."""

    certificate: bytes
    signature: pb.SignedPresence | None
    address: str

    @classmethod
    def of(cls, context: Context) -> "Caller":
        """Return it of a call that came."""
        shown = next(iter(context.auth_context().get("x509_pem_cert", ())), b"")
        return cls(shown, _shown_in(context), address_of(context.peer()))


class Seats:
    """Looks callers up; `team` returns who is in the team now."""

    def __init__(self, team: Callable[[], Team | Refused], house: House) -> None:
        self._team, self.house = team, house
        self._refused: Bounded[str, float] = Bounded(REFUSALS_KEPT)
        self.challenge = secrets.token_bytes(16)

    def __repr__(self) -> str:
        return f"<Seats of {self._team!r}>"

    def of(
        self, caller: Caller, verb: Verb, facts: Facts | None = None, sent: Sent | None = None
    ) -> Identified:
        """Return who calls, or why they may not do this; `sent` may have been signed."""
        team = self._team()
        if isinstance(team, Refused):
            return team

        def opened(seat: Seat) -> Identified:
            told = caller.signature if sent and seat.closing else None
            if sent is None or told is None:
                return seat
            call = Call(team.id, seat.operator, self.challenge, *sent, told.at)
            return opened_by(told.signature, call, team, seat, self.house.now())

        return team.allows(caller.certificate, time(), verb, facts, opened)

    def why_not(self, seat: Seat, now: Identified) -> str:
        """Return why somebody who had a seat may not go on, as they are found now."""
        if isinstance(now, Refused):
            return now.why
        return "" if now == seat else _NOT_ANY_MORE.why

    async def admit(
        self,
        context: Context,
        verb: Verb,
        facts: Facts | None = None,
        sent: Sent | None = None,
    ) -> Seat:
        """Return who calls, if they may; else end the call, which is counted and recorded."""
        caller = Caller.of(context)
        seat = self.of(caller, verb, facts, sent)
        if isinstance(seat, Refused):
            await self.turn_away(context, caller, seat.why)
        return seat

    async def turn_away(self, context: Context, caller: Caller, words: str) -> NoReturn:
        """End a call that may not be made: it is counted, and of many alike one is recorded."""
        self._told(self._counted_as(caller), caller.address, words)
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, said(words))

    async def no_room(self, context: Context, words: str) -> NoReturn:
        """End a call that is one too many, in the same way."""
        who = self.of(caller := Caller.of(context), Verb.WATCH)
        whose = f"{who.device_name} of {who.name}: " if isinstance(who, Seat) else ""
        self._told(TurnedAway.ROOM, caller.address, f"{whose}{words}")
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, said(words))

    def _told(self, why: TurnedAway, address: str, words: str) -> None:
        self.house.witness.turned_away(why)
        if self._refused.get(words, 0.0) <= monotonic():
            self._refused[words] = monotonic() + RECORDED_EVERY
            text = f"a desk at {address} was refused: {words}"
            self.house.warn(text, alarm=why is not TurnedAway.RIGHTS)

    def _counted_as(self, caller: Caller) -> TurnedAway:
        team = self._team()
        if isinstance(team, Refused):
            return TurnedAway.TEAM
        known = not isinstance(team.identify(caller.certificate, time()), Refused)
        return TurnedAway.RIGHTS if known else TurnedAway.CERTIFICATE


Answers: TypeAlias = Callable[[Any, Context], Any]


class OpenCalls(_Interceptor):
    """Bounds how many calls are open: of one certificate, and from one address.

    What one device takes no other may want for: a card that is told is in memory until it is read.
    """

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self._open = Counter[bytes]()

    def __repr__(self) -> str:
        return f"<OpenCalls {len(self._open)}>"

    async def intercept_service(self, go_on: Any, details: Any) -> Any:  # noqa: ANN401 - gRPC's own
        """Return what answers a call, where there is room for it."""
        handler = await go_on(details)
        if handler is None:
            return None
        how: dict[str, Any] = {
            "request_deserializer": handler.request_deserializer,
            "response_serializer": handler.response_serializer,
        }
        if handler.response_streaming:
            told = partial(self._stream, handler.unary_stream)
            return grpc.unary_stream_rpc_method_handler(told, **how)
        return grpc.unary_unary_rpc_method_handler(partial(self._one, handler.unary_unary), **how)

    async def _one(self, answer: Answers, request: Any, context: Context) -> Any:  # noqa: ANN401
        async with self._room(context):
            return await answer(request, context)

    async def _stream(
        self,
        answer: Answers,
        request: Any,  # noqa: ANN401 - a message
        context: Context,
    ) -> AsyncIterator[Any]:
        async with self._room(context), aclosing(answer(request, context)) as told:
            async for one in told:
                yield one

    @asynccontextmanager
    async def _room(self, context: Context) -> AsyncIterator[None]:
        caller = Caller.of(context)
        places = {caller.certificate: OF_DEVICE, caller.address.encode(): FROM_ADDRESS}
        if any(self._open[one] >= most for one, most in places.items()):
            await self._seats.no_room(context, "too many of its calls are open")
        self._open.update(places.keys())
        try:
            yield
        finally:
            self._open.subtract(places.keys())
            for one in places:
                if not self._open[one]:
                    del self._open[one]


def address_of(peer: str) -> str:
    """Return the network address in gRPC's word for who calls: without the port."""
    host = unquote(peer).partition(":")[2].rpartition(":")[0]
    return host.strip("[]")


def said(why: str) -> str:
    """Return words as gRPC can send them with an error."""
    return why.encode("utf-8", "backslashreplace").decode()[:2000]


def as_sent(message: Any, request: bytes) -> tuple[bytes, Any]:  # noqa: ANN401 - a message's class
    """Return a request as it came, and read."""
    return request, message.FromString(request)


def _shown_in(context: Context) -> pb.SignedPresence | None:
    """Return the signature that came with a call; None where none did, or nobody can read it."""
    for key, value in context.invocation_metadata() or ():
        if key == HEADER and isinstance(value, bytes) and len(value) <= 2 * LARGEST:
            with suppress(DecodeError):
                told = pb.SignedPresence.FromString(value)
                return told if 0 <= told.at < _LATEST else None  # which nan is not
    return None


def operator_of(seat: Seat, context: Context) -> Operator:
    """Return who sits at a desk that calls."""
    opened = ShownBy.SIGNATURE if seat.signed else ShownBy.PASSPHRASE
    shown = ShownBy.OPEN_KEY if seat.closing else opened
    beside = address_of(context.peer()), seat.role.value, shown.value
    return Operator(seat.operator, seat.name, seat.device_name, *beside)
