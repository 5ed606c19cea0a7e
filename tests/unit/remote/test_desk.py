"""A desk against a server that means it harm: it is lost, in words, and shows what it had."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from crabhook.desk.replica import Replica
from crabhook.desk.updates import Snapshot
from crabhook.model.card import Card, Leg
from crabhook.model.event import Event
from crabhook.remote import desk as remote
from crabhook.remote.desk import RemoteDesk
from crabhook.remote.inputs import Inputs
from crabhook.remote.messages import card_message, events_of
from crabhook.remote.servers import OPTIONS, Servers
from crabhook.v1 import operator_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SOON = 60.0
HELLO = pb.WatchEvent(hello=pb.Hello(store_id=b"s", now=5.0))
END = pb.WatchEvent(seq=7, snapshot_end=pb.SnapshotEnd())
BEGUN = [HELLO, *events_of(Snapshot(5.0, sessions=3)), END]
CARD = Card(1, (Leg("a", Event("claude", "Stop", fields={"x": 1}), 9.0),), 1.0)


def another_input() -> pb.Card:
    """A card whose input is not what it says."""
    message = card_message(CARD, Inputs())
    message.requests[0].event.fields_json = b'{"x":2}'
    return message


def left_out() -> pb.Card:
    message = card_message(CARD, Inputs())
    message.requests[0].event.ClearField("fields_json")
    return message


def sessions(seq: int) -> pb.WatchEvent:
    return pb.WatchEvent(seq=seq, sessions=pb.SessionsChanged(count=9))


ENTRY = pb.WatchEvent(seq=8, feed=pb.FeedEntry(event=pb.Event(fields_json=b"[" * 9_000)))
ENDLESS = pb.WatchEvent(feed=pb.FeedEntry(number=1, text=b"x" * 1000))


def waits(number: int) -> pb.Card:
    return card_message(replace(CARD, number=number), Inputs())


HARM: dict[str, list[Any]] = {
    "goes back": [sessions(6)],
    "says the same twice": [sessions(7)],
    "begins before it says who it is": [sessions(8), sessions(8)],
    "ends what it had not begun": [END],
    "tells a card of nothing": [pb.WatchEvent(seq=8, card=pb.Card(number=1))],
    "tells another input": [pb.WatchEvent(seq=8, card=another_input())],
    "sends a card without end": [pb.WatchEvent(seq=8, card=left_out())],
    "nests without end": [ENTRY],
    "says what is no message": [b"\xff" * 20],
    "never ends what it has begun": [BEGUN[0], BEGUN[1], *[ENDLESS] * 3],
    "has more wait than can": [pb.WatchEvent(seq=8 + n, card=waits(n)) for n in range(4)],
}


class Server:
    """Plays a server: tells the events it is given, then nothing more."""

    def __init__(self, told: list[Any]) -> None:
        self.told, self.asked = told, list[pb.WatchRequest]()

    async def watch(self, request: pb.WatchRequest, _: Any) -> AsyncIterator[pb.WatchEvent]:
        self.asked.append(request)
        for event in self.told if len(self.asked) == 1 else BEGUN:
            yield event
        await asyncio.sleep(SOON)

    async def card(self, _request: Any, _context: Any) -> AsyncIterator[pb.CardPart]:
        while True:
            yield pb.CardPart(data=b"\x0a" * (3 << 20))


def as_bytes(event: pb.WatchEvent | bytes) -> bytes:
    return event if isinstance(event, bytes) else event.SerializeToString()


@asynccontextmanager
async def reached(played: Server) -> AsyncIterator[grpc.aio.Channel]:
    server = grpc.aio.server()
    handlers = {
        "Watch": grpc.unary_stream_rpc_method_handler(
            played.watch, pb.WatchRequest.FromString, as_bytes
        ),
        "GetCard": grpc.unary_stream_rpc_method_handler(
            played.card, pb.GetCardRequest.FromString, pb.CardPart.SerializeToString
        ),
    }
    name = "crabhook.v1.OperatorService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=OPTIONS) as channel:
            yield channel
    finally:
        await server.stop(None)


@asynccontextmanager
async def attached(played: Server) -> AsyncIterator[RemoteDesk]:
    async with reached(played) as channel:
        desk = RemoteDesk(Servers({"": channel}), time.monotonic)
        running = asyncio.ensure_future(desk.run())
        try:
            yield desk
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


@pytest.mark.parametrize("harm", HARM)
async def test_what_cannot_be_true_ends_the_watch_and_the_next_begins_anew(
    harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "MOST", 2)
    played, heard = Server([*BEGUN, *HARM[harm]]), list[object]()
    async with attached(played) as desk:
        replica = Replica(desk, time.monotonic)
        replica.follow(heard.append)
        async with asyncio.timeout(SOON):
            while len(played.asked) < 2 or desk.lost:  # noqa: ASYNC110 - a server's doing
                await asyncio.sleep(0.01)
        assert played.asked[1].store_id == b""  # all there is, and nothing of before
        assert (replica.sessions(), replica.waiting()) in ((3, ()), (9, ()))
        assert not replica.lost()


class Flood(Server):
    """A server that never stops telling."""

    async def watch(self, _request: pb.WatchRequest, _: Any) -> AsyncIterator[pb.WatchEvent]:
        for event in chain(BEGUN, map(sessions, count(8))):
            yield event


async def test_a_desk_that_is_left_while_news_come_is_left() -> None:
    async with reached(Flood([])) as channel:
        for turns in range(60):
            desk = RemoteDesk(Servers({"": channel}), time.monotonic)
            running = asyncio.ensure_future(desk.run())
            async with asyncio.timeout(SOON):
                while desk.cursor[1] < 20:  # noqa: ASYNC110 - until news come one upon another
                    await asyncio.sleep(0)
            for _ in range(turns % 12):
                await asyncio.sleep(0)
            running.cancel()
            await asyncio.wait({running}, timeout=SOON)
            assert running.done(), "left, and still there"
