"""A desk elsewhere against any server: what it is told is shown safely, or ends the watch in words.

It gives no command by itself. A decision says what was decided of what was shown, and whatever is
submitted comes to an outcome.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from hashlib import sha256
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args
from unittest.mock import patch

from grpc import _common

from crabhook.desk.commands import Ask, Decide, Outcome
from crabhook.desk.replica import Replica
from crabhook.desk.updates import News, Snapshot
from crabhook.model.decision import Decision, Verdict
from crabhook.present.phrases import Clock
from crabhook.remote import desk as remote
from crabhook.remote.codec import WireError, json_of
from crabhook.remote.inputs import Inputs
from crabhook.remote.messages import CALLS, NEWS, card_message, event_of, events_of, request_of
from crabhook.remote.servers import Servers
from crabhook.ui.full.controller import Controller
from crabhook.ui.full.layout import Painter
from crabhook.ui.full.screen import Screen
from crabhook.ui.options import DeskOptions
from crabhook.ui.text.layout import line_cells
from crabhook.v1 import operator_pb2 as pb
from tests.fuzz.mutation import rows
from tests.fuzz.target import Target
from tests.support.desk import WALL, PlayedDesk
from tests.support.sitting import call
from tests.support.values import maker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from random import Random

    from crabhook.model.card import Card

EVENT, RAW, PART, RESPONSE = range(4)
"""An event whose number follows on; one as it is; a part of a card; what a command is answered."""
COLUMNS, ROWS = 80, 24
SOON = 60.0
QUIET = 40  # turns of the loop in which nothing is read any more
ALLOW = Decision(Verdict.ALLOW)
_TOLD: list[Any] = [one for one in get_args(News) if one in NEWS]
_ASKS = {rpc for rpc, kind in CALLS.items() if isinstance(kind, type) and issubclass(kind, Ask)}
"""What a screen asks for by itself, and which changes nothing."""
_LOOP = asyncio.Runner()


class PlayedChannel:
    """A server's side of a connection: reads what it is given as gRPC does, and notes what is asked."""

    def __init__(self, row: rows.Row) -> None:
        self._events = [one for one in row if one[0] % 4 in (EVENT, RAW)]
        self._parts = [data for which, data in row if which % 4 == PART]
        self._responses = [data for which, data in row if which % 4 == RESPONSE]
        self.given: list[tuple[str, Any]] = []
        self.left = len(self._events)
        self._seq = 0

    def unary_unary(
        self, path: str, *, response_deserializer: Callable[[bytes], Any], **_how: Any
    ) -> Any:
        async def answered(request: Any, **_how: Any) -> Any:
            rpc = path.rpartition("/")[2]
            if rpc not in _ASKS:
                self.given.append((rpc, request))
            data = self._responses.pop(0) if self._responses else b""
            return _common.deserialize(data, response_deserializer)

        return answered

    def unary_stream(
        self, path: str, *, response_deserializer: Callable[[bytes], Any], **_how: Any
    ) -> Any:
        async def parts() -> AsyncIterator[Any]:
            while self._parts:
                yield _common.deserialize(self._parts.pop(0), response_deserializer)

        async def read() -> Any:
            if not self.left:
                await asyncio.Event().wait()
            which, data = self._events[-self.left]
            self.left -= 1
            event = _common.deserialize(data, response_deserializer)
            if event is not None and which % 4 == EVENT:
                self._seq += 1
                event.seq = self._seq
            return event

        watch = SimpleNamespace(read=read, cancel=lambda: None)
        return lambda *_asked, **_how: parts() if path.endswith("GetCard") else watch


def law(data: bytes) -> None:
    """What a server sends, in a row; see `PlayedChannel`."""
    with patch.multiple(remote, FIRST_PAUSE=0.0, LONGEST_PAUSE=0.0, SILENCE=0.05):
        _LOOP.run(_law(data))


async def _law(data: bytes) -> None:
    channel: Any = PlayedChannel(rows.split(data))
    desk = remote.RemoteDesk(Servers({"": channel}), time.monotonic)
    replica = Replica(desk, time.monotonic)
    screen = Screen(replica, DeskOptions(take_back_ms=0, advance=False), "elsewhere")
    controller, painter = Controller(screen), Painter(screen)
    replica.follow(controller.news)
    running = asyncio.ensure_future(desk.run())
    try:
        async with asyncio.timeout(SOON):
            while channel.left and not running.done():  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0)
        for _ in range(QUIET):
            await asyncio.sleep(0)
        if running.done():
            running.result()
        assert not channel.given, "a command that nobody gave"
        _whole(painter, replica)
        desk.lost.encode("utf-8", "backslashreplace")
        outcomes = list[Outcome]()
        shown = replica.waiting()[:2]
        for card in shown:
            replica.submit(Decide(card.number, card.revision, ALLOW), outcomes.append)
        async with asyncio.timeout(SOON):
            while len(outcomes) < len(shown):  # noqa: ASYNC110 - nothing tells of two
                await asyncio.sleep(0.001)
        _as_shown(channel.given, {card.number: card for card in shown})
        _whole(painter, replica)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def _whole(painter: Painter, replica: Replica) -> None:
    frame = painter.frame(COLUMNS, ROWS, Clock(replica.now(), WALL))
    assert len(frame.lines) == ROWS
    for line in frame.lines:
        assert line_cells(line) <= COLUMNS, line
        assert "".join(text for _, text in line).isprintable(), line


def _as_shown(given: list[tuple[str, Any]], shown: dict[int, Card]) -> None:
    """See that what was asked for is what was submitted, of the inputs that were on the screen."""
    for rpc, request in given:
        assert rpc == "Decide"
        card = shown[request.number]
        assert request.version == card.revision
        _, wanted = request_of(Decide(card.number, card.revision, ALLOW))
        assert request.decision == wanted.decision
        inputs = [json_of(leg.event.fields) for leg in card.requests]
        seen = sha256(b"".join(sha256(one).digest() for one in inputs)).digest()
        assert request.seen_sha256 in (seen, b"") or any(
            not leg.event.fields for leg in card.requests
        )


def fresh(chance: Random) -> tuple[int, bytes]:
    """Make any news, any part of a card, or any answer."""
    with suppress(WireError, OverflowError):
        match chance.randrange(8):
            case 0:
                return RESPONSE, pb.DecideResponse(
                    seq=chance.choice((0, 1, 2**63))
                ).SerializeToString()
            case 1:
                return PART, card_message(maker(_CARD)(chance), Inputs()).SerializeToString()[:9000]
            case 2:
                return RAW, _event(chance).SerializeToString()
        return EVENT, _event(chance).SerializeToString()
    return RAW, b""


_CARD: Any = _TOLD[0]


def _event(chance: Random) -> pb.WatchEvent:
    news = maker(chance.choice(_TOLD))(chance)
    limit = chance.choice((0, 1 << 16))
    return event_of(news, chance.choice((0, 1, 7, 2**63)), limit)


def _begun(snapshot: Snapshot) -> list[tuple[int, bytes]]:
    hello = pb.WatchEvent(hello=pb.Hello(store_id=b"s", view_tag=b"v", now=5.0))
    end = pb.WatchEvent(snapshot_end=pb.SnapshotEnd())
    return [(RAW, one.SerializeToString()) for one in (hello, *events_of(snapshot), end)]


def seeds() -> list[bytes]:
    """All there is, and then cards that come, change and end; short, with inputs left out, twice."""
    server = PlayedDesk()
    for number in range(2):
        server.ask(call(session_id=f"s{number}", tool_input={"command": f"echo {number}"}))
    begun = _begun(_all(server))
    later: list[tuple[int, bytes]] = []
    for card in server.waiting():
        told = event_of(card, 0, 0)
        later.append((EVENT, told.SerializeToString()))
        later.append((PART, card_message(card, Inputs()).SerializeToString()))
    return [
        rows.joined(begun),
        rows.joined([*begun, *later]),
        rows.joined([*begun, *begun, *later]),
    ]


def _all(server: PlayedDesk) -> Snapshot:
    found: list[Snapshot] = []
    leave = server.runner.listen(
        lambda news: found.append(news) if isinstance(news, Snapshot) else None
    )
    leave()
    return found[0]


TARGET = Target(law, rows.of(fresh), seeds, longest=16384, most_seconds=4.0)
