"""A desk with a list of servers: where it attaches, and where what it is told to do goes."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from crabhook.desk.commands import AskDesks, Done, Outcome, Refused
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Snapshot
from crabhook.model.card import Card, Leg
from crabhook.model.event import Event
from crabhook.remote import servers
from crabhook.remote.desk import RemoteDesk
from crabhook.remote.messages import events_of, response_of
from crabhook.remote.servers import ASK_INSTEAD, OPTIONS, Servers, why_lost
from crabhook.v1 import operator_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

SOON = 60.0
END = pb.WatchEvent(seq=7, snapshot_end=pb.SnapshotEnd())


class Server:
    """One of several servers of a record: `part` is what it does now, `leader` whom it names."""

    def __init__(self, part: str, store: bytes = b"s") -> None:
        self.part, self.leader, self.store, self.run = part, "", store, b"1"
        self.waiting: tuple[Card, ...] = ()
        self.watches, self.commands = list[pb.WatchRequest](), 0
        self.dies = False  # as it is given a command
        self.address = ""
        self._changed = asyncio.Event()
        self._server = grpc.aio.server()

    async def begin(self) -> None:
        handlers = {
            "Watch": grpc.unary_stream_rpc_method_handler(
                self._watch, pb.WatchRequest.FromString, pb.WatchEvent.SerializeToString
            ),
            "Desks": grpc.unary_unary_rpc_method_handler(
                self._desks, pb.DesksRequest.FromString, pb.DesksResponse.SerializeToString
            ),
        }
        name = "crabhook.v1.OperatorService"
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(name, handlers),)
        )
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        await self._server.start()

    async def end(self) -> None:
        await self._server.stop(None)

    def become(self, part: str) -> None:
        """Have another part, which ends what is watched."""
        self.part, self.store = part, self.store + b"+"
        self._changed.set()
        self._changed = asyncio.Event()

    async def _watch(self, request: pb.WatchRequest, _: Any) -> AsyncIterator[pb.WatchEvent]:
        changed = self._changed
        self.watches.append(request)
        resumed = request.store_id == self.store and request.after_seq == END.seq
        hello = pb.Hello(store_id=self.store, now=5.0, part=self.part, leader=self.leader)
        hello.resumed, hello.challenge = resumed, self.run
        yield pb.WatchEvent(hello=hello)
        if not resumed:
            for event in [*events_of(Snapshot(5.0, self.waiting, sessions=3)), END]:
                yield event
        await changed.wait()

    async def _desks(self, _: Any, context: Any) -> pb.DesksResponse:
        self.commands += 1
        if self.part == "standby":
            hint = ((ASK_INSTEAD, self.leader),)
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "it stands by", hint)
        if self.dies:
            self._changed.set()
            await context.abort(grpc.StatusCode.UNAVAILABLE, "it is killed")
        response: pb.DesksResponse = response_of("Desks", Done(), END.seq)
        return response


@asynccontextmanager
async def running(*parts: str) -> AsyncIterator[list[Server]]:
    async with AsyncExitStack() as stack:
        these = [Server(part) for part in parts]
        for one in these:
            await one.begin()
            stack.push_async_callback(one.end)
        yield these


@asynccontextmanager
async def desk_of(*these: Server) -> AsyncIterator[RemoteDesk]:
    async with AsyncExitStack() as stack:
        channels = {
            one.address: await stack.enter_async_context(
                grpc.aio.insecure_channel(one.address, options=OPTIONS)
            )
            for one in these
        }
        desk = RemoteDesk(Servers(channels), time.monotonic)
        runs = asyncio.ensure_future(desk.run())
        try:
            yield desk
        finally:
            runs.cancel()
            await asyncio.gather(runs, return_exceptions=True)


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(SOON):
        while not holds():  # noqa: ASYNC110 - a server's doing
            await asyncio.sleep(0.01)


async def outcome_of(desk: RemoteDesk) -> Outcome:
    replica, told = Replica(desk, time.monotonic), list[Outcome]()
    replica.follow(lambda _news: None)
    replica.submit(AskDesks(), told.append)
    await until(lambda: told)
    replica.leave()
    return told[0]


async def test_a_desk_attaches_to_the_one_that_leads() -> None:
    async with running("standby", "leader") as (one, other), desk_of(one, other) as desk:
        await until(desk.attached.is_set)
        assert isinstance(await outcome_of(desk), Done)
        assert (one.commands, other.commands) == (0, 1)


async def test_the_leader_that_a_standby_names_is_tried_first() -> None:
    async with running("standby", "standby", "leader") as these, desk_of(*these) as desk:
        these[0].leader = these[2].address
        await until(desk.attached.is_set)
        assert [len(one.watches) for one in these] == [1, 0, 1]


async def test_an_address_that_is_not_the_desks_own_is_never_tried() -> None:
    async with running("leader", "standby", "leader") as (stranger, one, other):
        one.leader = stranger.address
        async with desk_of(one, other) as desk:
            await until(desk.attached.is_set)
        assert (len(stranger.watches), len(other.watches)) == (0, 1)


async def test_where_none_leads_it_shows_what_there_is_and_goes_to_who_leads_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "LOOK_EVERY", 0.05)
    async with running("standby", "standby") as (one, other), desk_of(one, other) as desk:
        await until(desk.attached.is_set)
        assert isinstance(await outcome_of(desk), Refused)
        one.become("leader")
        await until(lambda: desk.attached.is_set() and one.commands + other.commands == 1)
        await until(lambda: len(one.watches) > 2 and desk.attached.is_set())
        assert isinstance(await outcome_of(desk), Done)
        assert one.commands == 1


async def test_at_the_other_server_it_goes_on_from_its_place() -> None:
    async with running("leader", "leader") as (one, other), desk_of(one, other) as desk:
        await until(desk.attached.is_set)
        await one.end()
        await until(lambda: other.watches and desk.attached.is_set())
        assert (other.watches[0].store_id, other.watches[0].after_seq) == (b"s", END.seq)
        assert desk.cursor.seq == END.seq


async def test_a_command_whose_answer_was_lost_is_given_to_the_next_that_leads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "LOOK_EVERY", 0.05)
    async with running("leader", "standby") as (one, other), desk_of(one, other) as desk:
        await until(desk.attached.is_set)
        one.dies = True
        asked = asyncio.ensure_future(outcome_of(desk))
        await until(lambda: one.commands)
        await one.end()
        await until(lambda: other.commands)  # which does not know what became of it
        other.become("leader")
        assert isinstance(await asked, Done)


TAKEN_UP = Card(1, (Leg("a", Event("claude", "Stop"), 9.0),), 1.0, restored=True)


def heard(desk: RemoteDesk) -> list[str]:
    replica = Replica(desk, time.monotonic)
    replica.follow()
    told = [one.text for one in replica.feed()]
    replica.leave()
    return told


async def test_a_desk_says_that_another_server_leads_and_what_it_took_up() -> None:
    async with running("leader", "leader") as (one, other), desk_of(one, other) as desk:
        await until(desk.attached.is_set)
        assert heard(desk) == []
        other.store, other.leader, other.waiting = b"t", "b.example:7444", (TAKEN_UP,)
        await one.end()
        await until(lambda: other.watches and desk.attached.is_set())
        assert heard(desk) == ["another server leads now, b.example:7444 (it took up 1 request)"]


async def test_a_desk_at_a_standby_says_so_when_that_one_leads() -> None:
    async with running("standby") as (one,), desk_of(one) as desk:
        one.leader = "a.example:7444"
        await until(desk.attached.is_set)
        one.leader = ""
        one.become("leader")
        await until(lambda: len(one.watches) == 2 and desk.attached.is_set())
        assert heard(desk) == [f"another server leads now, {one.address}"]


@pytest.mark.parametrize("restarted", [True, False])
async def test_the_same_server_was_restarted_or_only_lost(*, restarted: bool) -> None:
    async with running("alone") as (one,), desk_of(one) as desk:
        await until(desk.attached.is_set)
        one.run = b"2" if restarted else b"1"
        one.become("alone")
        await until(lambda: len(one.watches) == 2 and desk.attached.is_set())
        assert heard(desk) == (["the server was restarted"] if restarted else [])


REFUSED = (
    "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:7444: "
    "Failed to connect to remote host: connect: Connection refused (111)"
)
OF_ANOTHER_TEAM = (
    "failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:7444: Ssl "
    "handshake failed (TSI_PROTOCOL_FAILURE): SSL_ERROR_SSL: error:1000007d:SSL routines:"
    "OPENSSL_internal:CERTIFICATE_VERIFY_FAILED: unable to get local issuer certificate"
)


@pytest.mark.parametrize(
    ("details", "words"),
    [
        (REFUSED, "no server listens there"),
        (OF_ANOTHER_TEAM, "certificate is refused (unable to get local issuer certificate)"),
        ("Socket closed", "the connection was cut"),
        ("ann was revoked", "ann was revoked"),
        ("", "the server ended it (unavailable)"),
    ],
)
def test_why_a_connection_was_lost_is_said_in_words(details: str, words: str) -> None:
    assert why_lost(details, grpc.StatusCode.UNAVAILABLE).removeprefix("its ") == words
