"""Identifies callers: each call is checked by its certificate and its signature."""

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from time import monotonic, time
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

import grpc
from google.protobuf.message import DecodeError

from crabhook.datatypes import Bounded
from crabhook.model.actor import Operator, ShownBy
from crabhook.server.address import Context
from crabhook.server.core.runner import Runner
from crabhook.server.metrics.tally import TurnedAway
from crabhook.team.membership import Identified, Permission, Principal, Refused, Target, Team
from crabhook.team.presence import HEADER, LARGEST, Call, opened_by
from crabhook.v1 import operator_pb2 as pb

OF_DEVICE, FROM_ADDRESS = 256, 1024  # open calls at once; many devices may share an address
REFUSALS_KEPT, RECORDED_EVERY = 64, 60.0  # one of a kind is recorded in so many seconds

_LATEST = 1e11  # seconds that fit the signed bytes


class Sent(NamedTuple):
    """A call's name and raw request: the signature of presence covers both."""

    rpc: str
    request: bytes


class Caller(NamedTuple):
    """The proof in a call: a certificate, PEM, a signature, a network address."""

    certificate: bytes
    signature: pb.SignedPresence | None
    address: str

    @classmethod
    def of(cls, context: Context) -> "Caller":
        """Return the proof in a call."""
        shown = next(iter(context.auth_context().get("x509_pem_cert", ())), b"")
        return cls(shown, _shown_in(context), address_of(context.peer()))


class Authenticator:
    """Looks callers up; `team` returns the current team, `runner` takes reports of refusals."""

    def __init__(self, team: Callable[[], Team | Refused], runner: Runner) -> None:
        self._team, self.runner = team, runner
        self._open = Counter[bytes]()  # calls, by certificate and by address
        self._refused: Bounded[str, float] = Bounded(REFUSALS_KEPT)
        self.challenge = secrets.token_bytes(16)

    def of(
        self,
        caller: Caller,
        permission: Permission,
        target: Target | None = None,
        sent: Sent | None = None,
    ) -> Identified:
        """Return the caller, or the reason of a refusal; `sent` may be signed."""
        team = self._team()
        if isinstance(team, Refused):
            return team

        def opened(principal: Principal) -> Identified:
            told = caller.signature if sent and principal.closing else None
            if sent is None or told is None:
                return principal
            call = Call(team.id, principal.operator, self.challenge, *sent, told.at)
            return opened_by(told.signature, call, team, principal, self.runner.now())

        return team.allows(caller.certificate, time(), permission, target, opened)

    async def admit(
        self,
        context: Context,
        permission: Permission,
        target: Target | None = None,
        sent: Sent | None = None,
    ) -> Principal:
        """Return the permitted caller; else end the call, count and record it."""
        caller = Caller.of(context)
        principal = self.of(caller, permission, target, sent)
        if isinstance(principal, Refused):
            await self.turn_away(context, caller, principal.why)
        return principal

    async def turn_away(self, context: Context, caller: Caller, words: str) -> NoReturn:
        """End a forbidden call: each is counted, and one of many similar ones is recorded."""
        self._told(self._counted_as(caller), caller.address, words)
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, said(words))

    async def no_room(self, context: Context, words: str) -> NoReturn:
        """End a call beyond the limit, in the same way."""
        who = self.of(caller := Caller.of(context), Permission.WATCH)
        whose = f"{who.device_name} of {who.name}: " if isinstance(who, Principal) else ""
        self._told(TurnedAway.ROOM, caller.address, f"{whose}{words}")
        await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, said(words))

    @asynccontextmanager
    async def room(self, context: Context) -> AsyncIterator[None]:
        """Count a call as open; end a call beyond the limit of its certificate or its address.

        A device must not take the places of the others: a card being sent is in memory until it is
        read.
        """
        caller = Caller.of(context)
        places = {caller.certificate: OF_DEVICE, caller.address.encode(): FROM_ADDRESS}
        if any(self._open[place] >= most for place, most in places.items()):
            await self.no_room(context, "too many of its calls are open")
        self._open.update(places.keys())
        try:
            yield
        finally:
            self._open.subtract(places.keys())
            for place in places:
                if not self._open[place]:
                    del self._open[place]

    def _told(self, why: TurnedAway, address: str, words: str) -> None:
        self.runner.witness.turned_away(why)
        if self._refused.get(words, 0.0) <= monotonic():
            self._refused[words] = monotonic() + RECORDED_EVERY
            text = f"a desk at {address} was refused: {words}"
            self.runner.warn(text, alarm=why is not TurnedAway.RIGHTS)

    def _counted_as(self, caller: Caller) -> TurnedAway:
        team = self._team()
        if isinstance(team, Refused):
            return TurnedAway.TEAM
        known = not isinstance(team.identify(caller.certificate, time()), Refused)
        return TurnedAway.RIGHTS if known else TurnedAway.CERTIFICATE


def address_of(peer: str) -> str:
    """Return the network address in gRPC's peer name, without the port."""
    host = unquote(peer).partition(":")[2].rpartition(":")[0]
    return host.strip("[]")


def said(why: str) -> str:
    """Return words in a form that gRPC can send with an error."""
    return why.encode("utf-8", "backslashreplace").decode()[:2000]


def as_sent(message: Any, request: bytes) -> tuple[bytes, Any]:  # noqa: ANN401 - a message's class
    """Return a request raw and parsed."""
    return request, message.FromString(request)


def _shown_in(context: Context) -> pb.SignedPresence | None:
    """Return the signature in a call; None where there is none, or it is not readable."""
    for key, value in context.invocation_metadata() or ():
        if key == HEADER and isinstance(value, bytes) and len(value) <= 2 * LARGEST:
            with suppress(DecodeError):
                told = pb.SignedPresence.FromString(value)
                return told if 0 <= told.at < _LATEST else None  # false for nan
    return None


def operator_of(principal: Principal, context: Context) -> Operator:
    """Return the operator at a calling desk."""
    opened = ShownBy.SIGNATURE if principal.signed else ShownBy.PASSPHRASE
    shown = ShownBy.OPEN_KEY if principal.closing else opened
    beside = address_of(context.peer()), principal.role.value, shown.value
    return Operator(principal.operator, principal.name, principal.device_name, *beside)
