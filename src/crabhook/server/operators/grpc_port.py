"""OperatorService for desks elsewhere: each call is checked against the team."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from itertools import chain
from time import monotonic
from typing import Any

import grpc

from crabhook.datatypes import Bounded
from crabhook.desk.commands import (
    AllowWithRule,
    Ask,
    AskEntry,
    AskHistory,
    Command,
    Decide,
    NotAllowed,
    Outcome,
    Stale,
)
from crabhook.desk.updates import READ, AttachedDesk, News, Settled
from crabhook.model.actor import Operator
from crabhook.model.card import Card, State
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
from crabhook.server.core.local_desk import LocalDesk, MayNot
from crabhook.server.core.runner import Runner
from crabhook.server.grpc.permission import LEADER
from crabhook.server.operators.authentication import (
    Authenticator,
    Caller,
    Sent,
    as_sent,
    operator_of,
    said,
)
from crabhook.server.operators.rights import (
    Visibility,
    permission_of,
    target_of,
    target_of_command,
    view_tag,
)
from crabhook.server.operators.update_log import UpdateLog
from crabhook.store.interface import Role as Part
from crabhook.team.membership import Permission, Principal, Refused, Role, Target, Team
from crabhook.v1 import operator_pb2 as pb

SERVICE = pb.DESCRIPTOR.services_by_name["OperatorService"].full_name
BOOKMARK_EVERY = 10.0  # seconds
LOOK_EVERY = 1.0  # seconds between two looks at whether a desk may still watch
PART = 256 << 10  # bytes
WATCHES = 16  # of one key at once: the open key takes no place of its person's
DESKS_KEPT = 256
WITHIN = 60.0  # seconds for a read; a command is done at once

_CHANGED = "what this device may do has changed meanwhile; nothing was done"
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_Code = grpc.StatusCode


class OperatorPort:
    """Answers desks elsewhere.

    `team` returns the current team, or the reason why it is not usable.
    """

    def __init__(self, runner: Runner, team: Callable[[], Team | Refused]) -> None:
        self.authenticator = Authenticator(team, runner)
        self._begin(runner)
        self._watches = Counter[tuple[str, bool]]()

    def close(self) -> None:
        """End all watches."""
        self._log.close()

    def _begin(self, runner: Runner) -> None:
        self._runner, self._log = runner, UpdateLog(runner)
        self._desks = Bounded[Operator, LocalDesk](DESKS_KEPT)

    def switch_to(self, runner: Runner) -> None:
        """Serve desks from another runner; watches end, and desks come back to the new log."""
        self.close()
        self.authenticator.runner = runner
        self._begin(runner)

    def handlers(self) -> dict[str, "grpc.RpcMethodHandler[Any, Any]"]:
        """Return the handler of each call, by the call's name."""
        watch, card = (
            grpc.unary_stream_rpc_method_handler(told, asked.FromString, message.SerializeToString)
            for told, asked, message in (
                (self.watch, pb.WatchRequest, pb.WatchEvent),
                (self.get_card, pb.GetCardRequest, pb.CardPart),
            )
        )
        calls = {
            rpc: grpc.unary_unary_rpc_method_handler(
                partial(self._call, rpc),
                partial(as_sent, getattr(pb, f"{rpc}Request")),
                getattr(pb, f"{rpc}Response").SerializeToString,
            )
            for rpc in CALLS
        }
        return calls | {"Watch": watch, "GetCard": card}

    def _desk(self, principal: Principal, context: Context) -> LocalDesk:
        """Return a person's desk, which is kept for a while with its reads."""
        by = operator_of(principal, context)
        desk = self._desks.get(by) or self._runner.desk(by)
        self._desks[by] = desk
        return desk

    # Reads.

    async def watch(
        self, request: pb.WatchRequest, context: Context
    ) -> AsyncIterator[pb.WatchEvent]:
        """Send a snapshot, or the changes since the desk's place, and then all changes."""
        async with self.authenticator.room(context):
            principal = await self.authenticator.admit(context, Permission.WATCH)
            log, limit = self._log, request.payload_limit or PAYLOAD_LIMIT
            view, at = view_tag(principal, log.run), request.after_seq
            known = request.store_id == log.store_id and request.view_tag == view
            resumed = known and log.after(at) is not None
            if self._watches[principal.device, principal.closing] >= WATCHES:
                await self.authenticator.no_room(context, f"it watches {WATCHES} times already")
            with self._watched(principal, context):
                yield pb.WatchEvent(hello=self._hello(principal, view, resumed=resumed))
                if not resumed:
                    if request.store_id:
                        yield pb.WatchEvent(gap=pb.Gap())
                    for event in await self._all(principal, limit, log):
                        at = event.seq
                        yield event
                async with aclosing(self._following(principal, context, at, limit, log)) as changes:
                    async for event in changes:
                        yield event

    @contextmanager
    def _watched(self, principal: Principal, context: Context) -> Iterator[None]:
        """Count a watch; a person with the right to decide counts as attached meanwhile.

        A closing key proves no person: any program of its owner's can use it.
        """
        decides = principal.role.includes(Role.DECIDER) and not principal.closing
        attached = AttachedDesk(
            operator_of(principal, context), self._runner.now(), principal.closing
        )
        self._watches[principal.device, principal.closing] += 1
        try:
            with self._runner.attendance.attending(attached, decides=decides):
                yield
        finally:
            self._watches[principal.device, principal.closing] -= 1

    def _hello(self, principal: Principal, view: bytes, *, resumed: bool) -> pb.Hello:
        return pb.Hello(
            store_id=self._log.store_id,
            view_tag=view,
            operator=principal.operator,
            role=principal.role.value,
            seq=self._log.seq,
            now=self._runner.now(),
            resumed=resumed,
            device=principal.device_name.encode("utf-8", "surrogatepass"),
            challenge=self.authenticator.challenge,
            part=self._runner.role.value,
            leader=self._runner.leader.desks,
        )

    async def _all(
        self, principal: Principal, limit: int, log: UpdateLog
    ) -> Iterable[pb.WatchEvent]:
        if (found := await log.snapshot()) is None:
            return ()
        seq, snapshot = found
        for card in (*snapshot.waiting, *snapshot.ended):
            await log.inputs.prepare(card)
        events = events_of(Visibility(principal, log).snapshot(snapshot), limit, log.inputs)
        return chain(events, [pb.WatchEvent(seq=seq, snapshot_end=pb.SnapshotEnd())])

    async def _following(
        self, principal: Principal, context: Context, at: int, limit: int, log: UpdateLog
    ) -> AsyncGenerator[pb.WatchEvent, None]:
        """Send the changes after a place in the hello's log, until the log ends."""
        told_at = monotonic()
        visibility, caller = Visibility(principal, log), Caller.of(context)
        while not log.closed:
            more = log.more
            if (now := self.authenticator.of(caller, Permission.WATCH)) != principal:
                changed = "what this device may see has changed"
                why = now.why if isinstance(now, Refused) else changed
                await context.abort(_Code.PERMISSION_DENIED, said(why))
            batch = log.after(at)
            if batch is None:
                yield pb.WatchEvent(gap=pb.Gap())
                for event in await self._all(principal, limit, log):
                    at = event.seq
                    yield event
            news: News | None = None
            for told in batch or ():
                at, news = told.seq, visibility.of(told.news)
                if news is not None:
                    if isinstance(news, Card):
                        await log.inputs.prepare(news)
                    whole = news is told.news
                    yield log.event(told, limit) if whole else event_of(news, at, limit)
                    told_at = monotonic()
            if (batch and news is None) or monotonic() - told_at >= BOOKMARK_EVERY:
                yield pb.WatchEvent(seq=at, bookmark=pb.Bookmark(now=self._runner.now()))
                told_at = monotonic()
            if not batch:
                await _either(more, LOOK_EVERY)

    async def get_card(
        self, request: pb.GetCardRequest, context: Context
    ) -> AsyncIterator[pb.CardPart]:
        """Send a whole card."""
        async with self.authenticator.room(context):
            await self.authenticator.admit(context, Permission.READ)
            card = self._log.card(request.number)
            if card is None:
                await context.abort(_Code.NOT_FOUND, f"there is no #{request.number} any more")
            await self.authenticator.admit(context, Permission.READ, target_of(card))
            await self._log.inputs.prepare(card)
            await self.authenticator.admit(
                context, Permission.READ, target_of(card)
            )  # rights may have ended
            data = card_message(card, self._log.inputs).SerializeToString()
            for start in range(0, len(data), PART):
                yield pb.CardPart(data=data[start : start + PART])

    # Commands.

    async def _call(self, rpc: str, told: tuple[bytes, Any], context: Context) -> Any:  # noqa: ANN401 - messages
        async with self.authenticator.room(context):
            return await self._answer(rpc, told, context)

    async def _answer(self, rpc: str, told: tuple[bytes, Any], context: Context) -> Any:  # noqa: ANN401 - messages
        """Carry out a call's command, once, and return its outcome."""
        request = told[1]
        try:
            command = command_in(rpc, request)
        except WireError as error:
            await context.abort(_Code.INVALID_ARGUMENT, said(str(error)))
        if not isinstance(command, Ask) and not _ID.fullmatch(command.id):
            await context.abort(_Code.INVALID_ARGUMENT, "its id must be 1 to 64 of [0-9A-Za-z_-]")
        if isinstance(command, Decide) and request.signed:
            await context.abort(_Code.INVALID_ARGUMENT, "this server looks at no signatures")
        if self._runner.role is Part.STANDBY and not isinstance(command, AskHistory | AskEntry):
            await self.authenticator.admit(context, Permission.WATCH)
            leader = self._runner.leader.desks
            where = f", at {leader}" if leader else ""
            words = f"this server stands by and another one leads{where}: nothing was done"
            await context.abort(_Code.FAILED_PRECONDITION, words, ((LEADER, leader),))
        card = self._runner.broker.card(getattr(command, "card", 0))
        caller, sent = Caller.of(context), Sent(rpc, told[0])
        principal = await self.authenticator.admit(context, *self._needs(command), sent)

        def may_not() -> str:
            now = self.authenticator.of(caller, *self._needs(command), sent)
            if isinstance(now, Refused):
                return now.why
            return "" if now == principal else _CHANGED

        desk = self._desk(principal, context)
        if isinstance(command, Decide | AllowWithRule) and not desk.was_given(command):
            seen = self._log.seen(command.card, command.seen)
            if (
                card
                and card.state is State.WAITING
                and (seen is None or self._log.inputs.seen(seen) != request.seen_sha256)
            ):
                why = f"#{card.number} was not seen like this; nothing was sent"
                return self._response(rpc, command, Stale(why, card.revision), None, self._log.seq)
        outcome, read, seq = await self._carried_out(desk, command, may_not)
        why = outcome.why if isinstance(outcome, NotAllowed) else may_not() if read else ""
        if why:
            await self.authenticator.turn_away(context, caller, why)
        return self._response(rpc, command, outcome, Visibility(principal, self._log).of(read), seq)

    def _needs(self, command: Command) -> tuple[Permission, Target | None]:
        broker = self._runner.broker
        permission, card = (
            permission_of(command, broker.orders()),
            broker.card(getattr(command, "card", 0)),
        )
        return permission, target_of_command(
            command, permission, card, partial(broker.live, self._runner.now())
        )

    async def _carried_out(
        self, desk: LocalDesk, command: Command, may_not: MayNot
    ) -> tuple[Outcome, News | None, int]:
        """Submit a command; return its outcome, its reads, and the number of the news before it."""
        done = asyncio.get_running_loop().create_future()
        read: News | None = None
        wanted = READ.get(type(command)) if isinstance(command, Ask) else None

        def on_news(news: News) -> None:
            nonlocal read
            if wanted is not None and isinstance(news, wanted):
                read = news
            elif isinstance(news, Settled) and news.command == command.id and not done.done():
                done.set_result((news.outcome, read, self._log.seq))

        stop = desk.listen(on_news)
        try:
            desk.submit_if(may_not, command)
            async with asyncio.timeout(WITHIN):
                settled: tuple[Outcome, News | None, int] = await done
        finally:
            stop()
        return settled

    def _response(
        self, rpc: str, command: Command, outcome: Outcome, read: News | None, seq: int
    ) -> Any:  # noqa: ANN401 - a message
        response = response_of(rpc, outcome, seq, read)
        if isinstance(command, Decide | AllowWithRule):
            card = self._log.card(command.card)
            if card is not None:
                response.card.CopyFrom(card_message(card, self._log.inputs, 0))
        return response


async def _either(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
