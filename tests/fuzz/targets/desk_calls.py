"""The desks' port against any device of the team: any row of calls is answered or refused in words.

Who may only look changes nothing. A card is decided by who may, and only by a request that shows
what the card is; the other desks see that, and nothing that was not decided.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, suppress
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc
from google.protobuf.message import DecodeError

from crabhook.desk.commands import Decide, GiveOrder
from crabhook.desk.replica import Replica
from crabhook.model.actor import Role
from crabhook.model.card import State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order, OrderKind
from crabhook.remote.codec import WireError
from crabhook.remote.inputs import Inputs
from crabhook.remote.messages import CALLS, request_of
from crabhook.server.operators.grpc_port import OperatorPort
from crabhook.server.operators.service import OperatorService
from crabhook.v1 import operator_pb2 as pb
from tests.fuzz.folder import own_folder
from tests.fuzz.mutation import rows
from tests.fuzz.target import Target
from tests.support.desk import PlayedDesk
from tests.support.sitting import call
from tests.support.team import founded
from tests.support.values import maker

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from crabhook.model.card import Card
    from crabhook.team.membership import Team

NAMES = (*sorted(CALLS), "Watch", "GetCard")
PEOPLE = {"vic": Role.VIEWER, "dee": Role.DECIDER}
CARDS = 3
SOON = 60.0
DOCUMENTED = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_LOOP = asyncio.Runner()


class EndedError(Exception):
    """What grpcio raises out of a call that is aborted."""


class Caller:
    """A call's context, as far as the port looks at one: a certificate, and how it is refused."""

    def __init__(self, certificate: bytes) -> None:
        self._certificate = certificate

    def peer(self) -> str:
        return "ipv4:192.0.2.7:4242"

    def auth_context(self) -> dict[str, list[bytes]]:
        return {"x509_pem_cert": [self._certificate]}

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return ()

    async def abort(self, code: grpc.StatusCode, details: str, _: Any = ()) -> None:
        assert code in DOCUMENTED, code
        details.encode()
        raise EndedError


class Called(NamedTuple):
    """The name of a method, as a generic handler asks for it."""

    method: str
    invocation_metadata: tuple[()] = ()


class _Team(NamedTuple):
    certificates: tuple[bytes, ...]
    team: Callable[[], Team]


@cache
def _team() -> _Team:
    """Found a team of a viewer and a decider, once."""
    made = founded(own_folder() / "team", time.time())
    shown = tuple(made.let_in(name, role)[0] for name, role in PEOPLE.items())
    team: Any = made.reader().current()
    return _Team(shown, lambda: team)


def law(data: bytes) -> None:
    """The first byte of a call: which, and whose; then its request."""
    _LOOP.run(_law(data))


async def _law(data: bytes) -> None:
    server, team = PlayedDesk(), _team()
    for number in range(CARDS):
        server.ask(call(session_id=f"s{number}"))
    service = OperatorService(server.runner, team.team)
    port = OperatorPort(service, lambda _name: None)
    other = Replica(server, server.now)
    other.follow()
    cards = {card.number: card for card in server.waiting()}
    proper = set[int]()  # cards that a decider has decided with what was to be seen
    for which, message in rows.split(data):
        name, who = NAMES[(which >> 1) % len(NAMES)], which & 1
        before = _state(server)
        if who and name in ("Decide", "Remember"):
            proper |= _proper(name, message, cards)
        await _call(port, name, message, Caller(team.certificates[who]))
        assert who or _state(server) == before, "a viewer changed something"
    decided = {card.number for card in server.ended() if card.state is State.DECIDED}
    assert decided <= proper, "decided, and not by who saw it"
    assert {card.number for card in other.waiting()} == {one.number for one in server.waiting()}
    assert [card.outcome for card in other.ended()] == [card.outcome for card in server.ended()]
    service.close()
    assert service._watches.total() == 0
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}, "a call left work behind"


def _state(server: PlayedDesk) -> object:
    return (
        tuple((card.number, card.state, card.wait_until) for card in server.waiting()),
        tuple(server.orders()),
        len(server.decided),
    )


def _proper(name: str, message: bytes, cards: dict[int, Card]) -> set[int]:
    with suppress(DecodeError):
        request = getattr(pb, f"{name}Request").FromString(message)
        card = cards.get(request.number)
        if card and request.seen_sha256 == Inputs().seen(card):
            return {card.number}
    return set()


async def _call(port: OperatorPort, name: str, message: bytes, caller: Caller) -> None:
    handler: Any = port.handlers()[name]
    try:
        request = handler.request_deserializer(message)
    except DecodeError:
        return  # grpcio refuses it before it is ours
    with suppress(EndedError):
        async with asyncio.timeout(SOON):
            if handler.unary_unary is not None:
                handler.response_serializer(await handler.unary_unary(request, caller))
                return
            size = 0
            async with aclosing(handler.unary_stream(request, caller)) as told:
                async for one in told:
                    size += len(handler.response_serializer(one))
                    if isinstance(one, pb.WatchEvent) and one.HasField("snapshot_end"):
                        break
            assert size < 1 << 20


def fresh(chance: Random) -> tuple[int, bytes]:
    """Make any command, by anybody."""
    which = chance.randrange(len(NAMES))
    name, who = NAMES[which], chance.randrange(2)
    if name not in CALLS:
        return which << 1 | who, _looking(name, chance)
    with suppress(WireError, OverflowError):
        hint: Any = CALLS[name]
        _, request = request_of(maker(hint)(chance))
        for field in ("command_id", "decision_id"):
            if hasattr(request, field) and chance.random() < 0.8:
                setattr(request, field, chance.choice((b"x", b"y", b"z")))
        if hasattr(request, "number") and chance.random() < 0.8:
            request.number = chance.randint(1, CARDS + 1)
        return which << 1 | who, request.SerializeToString()
    return which << 1 | who, b""


def _looking(name: str, chance: Random) -> bytes:
    if name == "Watch":
        place = {"store_id": chance.randbytes(16), "after_seq": chance.choice((0, 3, 2**63))}
        return pb.WatchRequest(**place).SerializeToString()
    return pb.GetCardRequest(number=chance.randint(0, CARDS + 1)).SerializeToString()


def seeds() -> list[bytes]:
    """Cards decided and looked at, by who may and by who may not; orders, and all there is."""
    server = PlayedDesk()
    for number in range(CARDS):
        server.ask(call(session_id=f"s{number}"))
    decide, order, watch = (NAMES.index(one) << 1 for one in ("Decide", "GiveOrder", "Watch"))
    made = []
    for who in (0, 1):
        row = [(watch | who, b"")]
        for card in server.waiting():
            _, request = request_of(_decide(card))
            request.seen_sha256 = Inputs().seen(card)
            row.append((decide | who, request.SerializeToString()))
            request.seen_sha256 = sha256(b"other").digest()
            row.append((decide | who, request.SerializeToString()))
        _, held = request_of(_order())
        made.append(rows.joined([*row, (order | who, held.SerializeToString())]))
    return made


def _decide(card: Card) -> Any:
    return Decide(card.number, card.revision, Decision(Verdict.ALLOW), id=f"d{card.number}")


def _order() -> Any:
    return GiveOrder(Order(OrderKind.HOLD, "Stop"), id="o")


TARGET = Target(law, rows.of(fresh), seeds, longest=16384)
