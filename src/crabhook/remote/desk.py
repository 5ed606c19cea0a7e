"""The desk of a server elsewhere: a screen's values over a connection that comes back by itself."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.message import DecodeError

from crabhook.datatypes import Bounded
from crabhook.desk.commands import Ask, Command, Decide, DecideWithRule, Done, NotAllowed, Refused
from crabhook.desk.replica import Replica
from crabhook.desk.updates import NEVER, Cursor, LinkChanged, News, Settled, Update
from crabhook.model.actor import Operator
from crabhook.model.card import Card, Leg, State
from crabhook.model.decision import Decided
from crabhook.model.errors import CrabhookError
from crabhook.remote.codec import WireError, seconds_read, text_read, to_value
from crabhook.remote.messages import (
    left_out,
    news_in,
    outcome_in,
    outcome_unknown,
    read_by_grpc,
    read_in,
    request_of,
    snapshot_of,
)
from crabhook.remote.servers import ElsewhereError, Servers, instead_in, why_lost
from crabhook.remote.signing import Signatures, StatementSigner, as_drawn
from crabhook.v1 import operator_pb2 as pb

if TYPE_CHECKING:
    from crabhook.model.event import Event

SILENCE = 25.0  # seconds without a word, of a server that says one every ten
ANSWER_WITHIN = 70.0  # seconds
GIVEN_AGAIN = 30.0  # seconds for which a command is given again, whose answer was lost
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds before a lost connection is tried again
CARD_AT_MOST = 400 << 20  # bytes: as ASCII, a session's inputs may be six times as long
ENDED_READ = 1 << 20  # bytes of an ended card's inputs: longer ones would hold up what waits
MOST = 32_768  # cards that wait, and news that a server begins with: twice what one lets wait
SEEN_KEPT, INPUTS_KEPT = 4096, 256
KEPT_FROM = 32 << 10  # bytes: whatever a server may leave out

_OVER: Any = grpc.aio.EOF  # type: ignore[attr-defined]
NOT_CONNECTED = "there is no connection to the server ({why}): nothing was sent"
_LOST = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED)


class RemoteDesk:
    """A `desk.updates.Desk` of a server elsewhere, in an asyncio loop; `run` keeps it connected.

    `clock` is this process's own, monotonic seconds. `after`: the cursor; if the server can
    continue there, no snapshot comes. `may_not`: the server refuses this device's desks. While the
    connection is lost, screens know it and commands are refused. `decided` hears of decisions at
    this desk. `signer` signs them for strict hooks.
    """

    def __init__(
        self,
        servers: Servers,
        clock: Callable[[], float],
        after: Cursor = NEVER,
        signer: StatementSigner | None = None,
    ) -> None:
        self._servers = servers
        self._clock = clock
        self._signatures = Signatures(signer, clock)
        self._all = Replica(self, clock)  # a later screen gets this first
        self.now, self.hello = self._all.now, pb.Hello()  # on the server's clock; from the server
        self._streams: list[Callable[[News], None]] = []
        self._store, self._at, self._view = after
        self._begun: tuple[pb.State, float, list[News]] | None = None  # a snapshot in the making
        self._me = Operator("", "", "")
        self.decided: Callable[[Event, Decided], object] = lambda _event, _decided: None
        self.lost = "it was not connected yet"
        self.may_not = self._told_first = self._turned_away = False
        self.attached = asyncio.Event()  # while it is connected
        self.refused = asyncio.Event()  # once every server there is has turned this device away
        self._moved = asyncio.Event()  # at each step of the news
        self._tasks: set[asyncio.Task[None]] = set()
        self._seen: Bounded[tuple[int, int], bytes] = Bounded(SEEN_KEPT)
        self._inputs: Bounded[tuple[str, bytes], Leg] = Bounded(INPUTS_KEPT)
        self._all.follow()

    # The desk's door.

    def subscribe(self, listener: Callable[[Update], object]) -> Callable[[], None]:
        """Give `listener` a snapshot, as soon as there is one, then every update."""
        number = 0

        def stream(news: News) -> None:
            nonlocal number
            number += 1
            listener(Update(number, news))

        def stop() -> None:
            if stream in self._streams:
                self._streams.remove(stream)

        self._streams.append(stream)
        if self._told_first:
            stream(self._all.snapshot())
            if self.lost:
                stream(LinkChanged(self.lost, refused=self._turned_away))
        return stop

    def submit(self, command: Command) -> None:
        """Give the server a command; its outcome comes as `Settled`."""
        if self.lost:
            number = getattr(command, "card", 0)
            about = f" about #{number}" if number else ""
            self._publish(Settled(command.id, Refused(NOT_CONNECTED.format(why=self.lost) + about)))
            return
        self._begin_to_give(command)

    def _begin_to_give(self, command: Command) -> None:
        task = asyncio.get_running_loop().create_task(self._give(command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, within: float) -> int:
        """Wait so many seconds at most for what was submitted; return how many cards wait then."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within)
        return len(self._all.waiting())

    @property
    def cursor(self) -> Cursor:
        """Where another desk of this person's can go on from."""
        return Cursor(self._store, self._at, self._view)

    def _publish(self, news: News) -> None:
        for stream in tuple(self._streams):
            stream(news)

    # Commands.

    def _sign_again(self, *cards: Card) -> None:
        """Give what this desk decided a moment ago to the next strict hooks of the same calls."""
        for card in cards:
            if (command := self._signatures.again(card)) is not None:
                self._begin_to_give(command)

    async def _give(self, command: Command) -> None:
        store, read = self._store, None
        try:
            if isinstance(command, Decide):
                command = await self._signatures.of(command, self._all.card(command.card))
            rpc, request = request_of(command)
            if isinstance(command, Decide | DecideWithRule):
                request.seen_sha256 = self._seen.get((command.card, command.seen), b"")
            response = await self._answer(rpc, request)
            outcome = outcome_in(response)
            read = read_in(response, command) if isinstance(command, Ask) else None
            with suppress(TimeoutError):  # the news before it, which a server may owe
                async with asyncio.timeout(SILENCE):
                    while self._store == store and self._at < response.seq:
                        await self._moved.wait()
        except CrabhookError as error:  # what cannot be read, or was not signed
            outcome = Refused(str(error))
        except grpc.aio.AioRpcError as error:
            denied = error.code() is grpc.StatusCode.PERMISSION_DENIED
            outcome = (NotAllowed if denied else Refused)(why_lost(error.details(), error.code()))
        except TimeoutError:
            outcome = outcome_unknown(command)
        if read is not None:
            self._publish(read)
        if (
            isinstance(command, Decide | DecideWithRule)
            and isinstance(outcome, Done)
            and (card := self._all.card(command.card))
        ):
            self.decided(card.event, Decided(command.decision, self._me))
            if isinstance(command, Decide):
                self._signatures.keep(command, card)
                self._sign_again(*self._all.waiting())  # a hook that asked before this outcome
        self._publish(Settled(command.id, outcome))

    async def _answer(self, rpc: str, request: Any) -> Any:  # noqa: ANN401 - messages
        """Send a command, again after a lost answer: the server does it once."""
        loop = asyncio.get_running_loop()
        until, lost = loop.time() + GIVEN_AGAIN, False
        while True:
            try:
                stub = self._servers.stub
                return read_by_grpc(await getattr(stub, rpc)(request, timeout=ANSWER_WITHIN))
            except grpc.aio.AioRpcError as error:
                # A server that stands by does not know the outcome elsewhere.
                if not (error.code() in _LOST or (lost and instead_in(error) is not None)):
                    raise
            lost = True
            await asyncio.sleep(FIRST_PAUSE)
            async with asyncio.timeout_at(until):
                await self.attached.wait()
            if loop.time() > until:
                raise TimeoutError

    # News.

    async def run(self) -> None:
        """Watch, and again whenever the connection is lost, until cancelled."""
        pause = FIRST_PAUSE
        try:
            while True:
                instead, self.may_not = "", False
                try:
                    await self._watch()
                    why = "the server has ended it"
                except ElsewhereError as error:
                    why, instead = str(error), error.instead
                except grpc.aio.AioRpcError as error:
                    why, instead = why_lost(error.details(), error.code()), instead_in(error) or ""
                    self.may_not = error.code() is grpc.StatusCode.PERMISSION_DENIED
                except WireError as error:  # the stream cannot continue
                    why, self._store = str(error), b""
                except TimeoutError:
                    why = "nothing was heard of the server any more"
                was_attached = self.attached.is_set()
                turned_away = self.may_not and not was_attached
                self._lose(why, refused=turned_away)
                if self._servers.turn(instead):
                    continue
                if turned_away:
                    self.refused.set()
                pause = FIRST_PAUSE if was_attached else min(2 * pause, LONGEST_PAUSE)
                await asyncio.sleep(pause * random.uniform(0.7, 1.3))  # noqa: S311 - so that not all come at once
        finally:
            for task in self._tasks:
                task.cancel()

    def _lose(self, why: str, *, refused: bool) -> None:
        """Tell once that the server is lost, and once more that it takes this desk no more."""
        told_already, self.lost, self._turned_away = self._turned_away, why, refused
        if self.attached.is_set() or (refused and not told_already and self._told_first):
            self.attached.clear()
            self._publish(LinkChanged(why, refused=refused))

    def _find(self) -> None:
        self.lost, self._turned_away = "", False
        self.refused.clear()
        self.attached.set()

    async def _watch(self) -> None:
        self._begun = None
        asked = pb.WatchRequest(store_id=self._store, after_seq=self._at, view_tag=self._view)
        call = self._servers.stub.Watch(asked)
        try:
            while True:
                event = await self._servers.read(call, SILENCE)
                if event is _OVER:
                    break
                if read_by_grpc(event).WhichOneof("news") == "hello":
                    self._servers.met(event.hello, asked)
                await self._on_news(event)
                moved, self._moved = self._moved, asyncio.Event()
                moved.set()
        finally:
            self._servers.leave()
            call.cancel()

    async def _on_news(self, event: pb.WatchEvent) -> None:
        match event.WhichOneof("news"):
            case "hello":
                hello = event.hello
                if hello.resumed and hello.store_id == self._store:
                    self._find()
                    self._publish(LinkChanged("", seconds_read(hello.now)))
                self._store, self._view, self.hello = hello.store_id, hello.view_tag, hello
                device = text_read(hello.device)
                self._me = Operator(hello.operator, "", device, role=hello.role)
            case "gap":
                self._begun = None
            case "state":
                self._begun = event.state, self._clock(), []
            case "snapshot_end":
                self._begin(event.seq)
            case "card":
                self._take(await self._whole(event.card), event.seq)
            case _:
                self._take(news_in(event), event.seq)

    def _begin(self, seq: int) -> None:
        if self._begun is None:
            raise WireError("the server ended what it had not begun")
        state, at, snapshot_news = self._begun
        all_of_it, back = snapshot_of(state, snapshot_news), self._told_first and bool(self.lost)
        self._begun, self._at, self._told_first = None, seq, True
        self._find()
        now = all_of_it.now + self._clock() - at
        self._publish(replace(all_of_it, now=now, me=self._me))
        taken_up = sum(card.restored for card in all_of_it.waiting)
        changed = self._servers.changed(self.hello, taken_up)
        if back:
            self._publish(LinkChanged("", now, changed))

    def _take(self, news: News | None, seq: int) -> None:
        if isinstance(news, Card):
            self._sign_again(news)
        if self._begun is not None:
            self._begun[2].extend([news] if news else [])
            if len(self._begun[2]) > MOST:
                raise WireError("the server begins, and does not end")
            return
        if seq < self._at or (seq == self._at and news is not None) or self.lost:
            raise WireError("the server's news are not in order")
        self._at = seq
        if news is not None:
            self._publish(news)
        if self._all.waits() > MOST:
            raise WireError("the server has more wait than can")

    # Cards, whole.

    async def _whole(self, message: pb.Card) -> Card:
        """Return a card with all its inputs; fetch missing inputs once."""
        card: Card = to_value(message, Card)
        keys = [
            (leg.id, leg_message.payload_sha256)
            for leg, leg_message in zip(card.requests, message.requests, strict=True)
        ]
        self._keep(message, card)
        wanted = card.state is State.WAITING or sum(leg.size for leg in card.requests) <= ENDED_READ
        if wanted and any(
            left_out(leg_message) and key not in self._inputs
            for leg_message, key in zip(message.requests, keys, strict=True)
        ):
            await self._fetch(card.number)
        legs = tuple(
            replace(leg, event=self._inputs[key].event, strict=self._inputs[key].strict)
            if left_out(leg_message) and key in self._inputs
            else as_drawn(leg)
            for leg, leg_message, key in zip(card.requests, message.requests, keys, strict=True)
        )
        self._seen[card.number, card.revision] = sha256(b"".join(key for _, key in keys)).digest()
        return replace(card, requests=legs)

    async def _fetch(self, number: int) -> None:
        """Fetch a card's inputs; a card that is gone is shown without."""
        data = bytearray()
        try:
            async for part in self._servers.stub.GetCard(
                pb.GetCardRequest(number=number), timeout=ANSWER_WITHIN
            ):
                data += read_by_grpc(part).data
                if len(data) > CARD_AT_MOST:
                    raise WireError(f"#{number} has no end")
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
            return
        try:
            message = pb.Card.FromString(bytes(data))
        except DecodeError as error:
            raise WireError(f"#{number} cannot be read") from error
        self._keep(message, to_value(message, Card))

    def _keep(self, message: pb.Card, card: Card) -> None:
        """Keep long inputs, and check that each has its digest."""
        for leg, leg_message in zip(card.requests, message.requests, strict=True):
            if left_out(leg_message):
                continue
            digest = sha256(leg_message.event.fields_json).digest()
            if digest != leg_message.payload_sha256:
                raise WireError(f"#{card.number} is not what the server says it is")
            if len(leg_message.event.fields_json) > KEPT_FROM:
                self._inputs[leg.id, digest] = as_drawn(leg)
