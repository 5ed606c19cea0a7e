"""What desks elsewhere see and do: rights, one outcome for each id, and nothing decided unseen.

A transport is a skin on `OperatorService`: it proves who calls, reads commands, and turns refusals
into its own words. The gRPC port is one; nothing here knows of it.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from time import monotonic
from typing import TypeAlias

from crabhook.datatypes import Bounded, frozen
from crabhook.desk.commands import (
    Ask,
    AskEntry,
    AskHistory,
    Command,
    Decide,
    DecideWithRule,
    NotAllowed,
    Outcome,
    Stale,
)
from crabhook.desk.updates import READ, AttachedDesk, Cursor, News, Settled, Snapshot
from crabhook.model.actor import Actor, Operator, Role
from crabhook.model.card import Card, State
from crabhook.model.proof import CallProof
from crabhook.remote.inputs import Inputs
from crabhook.server.core.changed_calls import ChangedCalls
from crabhook.server.core.local_desk import LocalDesk, MayNot, at_desk
from crabhook.server.core.parts import Elsewhere
from crabhook.server.core.runner import Runner
from crabhook.server.operators.authentication import Authenticator, Caller, Sent, operator_of
from crabhook.server.operators.refusals import (
    DeskRefusal,
    Forbidden,
    Gone,
    Malformed,
    NoRoom,
    StandsBy,
)
from crabhook.server.operators.rights import (
    Visibility,
    permission_of,
    target_of,
    target_of_command,
    view_tag,
)
from crabhook.server.operators.update_log import LoggedNews, UpdateLog
from crabhook.team.membership import Permission, Principal, Target, Team, TeamRefusal

BOOKMARK_EVERY = 10.0  # seconds
LOOK_EVERY = 1.0  # seconds between two looks at whether a desk may still watch
WATCHES = 16  # of one key at once: the open key takes no place of its person's
DESKS_KEPT = 256
WITHIN = 60.0  # seconds for a read; a command is done at once

_DECISIONS = (Decide, DecideWithRule)
_CHANGED = "what this device may do has changed meanwhile. Nothing was done"
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


@frozen
class OpenCall:
    """A call that has its place among the open calls: `OperatorService.open` makes it."""

    caller: Caller


@frozen
class SubmittedCommand:
    """A command, as its call brought it.

    `sent` may be signed. `seen` names the inputs of the card as its operator saw it, as
    `Inputs.seen` does; empty for a command about no card.
    """

    command: Command
    sent: Sent
    seen: bytes = b""


@frozen
class CommandReply:
    """What became of a command, the number of the news before that, and what was read for it.

    `card` is the card of a decision, as it is now.
    """

    outcome: Outcome
    seq: int
    read: News | None = None
    card: Card | None = None


# The parts of a watch.


@frozen
class Hello:
    """The first part: who watches, from which place on, and whether that is the desk's own place.

    `challenge`: what a proof of presence is made over. `part` is what this server does among those
    that share its record. `desks_at` and `page_at` are where desks and browsers reach the server
    that takes requests in, if known. `now` is on the server's clock.
    """

    cursor: Cursor
    principal: Principal
    now: float
    resumed: bool
    challenge: bytes
    part: str
    desks_at: str
    page_at: str = ""


@frozen
class Gap:
    """The desk's place is not kept: all there is follows."""


@frozen
class Whole:
    """All there is that the person may see, and its place in the log."""

    seq: int
    snapshot: Snapshot


@frozen
class VisibleChange:
    """A change, as far as the person may see it; `logged` is the same for all desks."""

    logged: LoggedNews
    news: News

    @property
    def whole(self) -> bool:
        """Whether the person may see all of it."""
        return self.news is self.logged.news


@frozen
class Bookmark:
    """Nothing new for this person up to a place, at a time on the server's clock."""

    seq: int
    now: float


Watched: TypeAlias = Hello | Gap | Whole | VisibleChange | Bookmark


class OperatorService:
    """Answers desks elsewhere.

    `team` returns the current team, or the reason why it is not usable. `inputs` are those of the
    cards, for a transport that sends them.
    """

    def __init__(self, runner: Runner, team: Callable[[], Team | TeamRefusal]) -> None:
        self._authenticator = Authenticator(team, runner)
        self.inputs = Inputs()
        self._begin(runner)
        self._watches = Counter[tuple[str, bool]]()

    def close(self) -> None:
        """End all watches."""
        self._log.close()

    def _begin(self, runner: Runner) -> None:
        self._runner, self._log = runner, UpdateLog(runner)
        self._desks = Bounded[Operator, LocalDesk](DESKS_KEPT)
        self._edits = Bounded[Actor, ChangedCalls](DESKS_KEPT)

    def switch_to(self, runner: Runner) -> None:
        """Serve desks from another runner; watches end, and desks come back to the new log."""
        self.close()
        self._authenticator.runner = runner
        self._begin(runner)

    @contextmanager
    def open(self, caller: Caller) -> Iterator[OpenCall | NoRoom]:
        """Open a call, which has its place until the context ends: when all of it was sent."""
        with self._authenticator.room(caller) as refusal:
            yield refusal or OpenCall(caller)

    def crowded(self, address: str) -> None:
        """Report that an address had a connection ended before any call, for want of places."""
        self._authenticator.crowded(address)

    # Reads.

    async def watch(
        self, call: OpenCall, after: Cursor
    ) -> AsyncGenerator[Watched | DeskRefusal, None]:
        """Yield all there is, or the changes after the desk's place, and then every change.

        A refusal is the last part.
        """
        principal = self._authenticator.admit(call.caller, Permission.WATCH)
        if isinstance(principal, Forbidden):
            yield principal
            return
        log, seq = self._log, after.seq
        view = view_tag(principal, log.run)
        resumed = (after.store, after.view) == (log.store_id, view) and log.after(seq) is not None
        if self._watches[principal.device, principal.closing] >= WATCHES:
            why = f"it watches {WATCHES} times already"
            yield self._authenticator.no_room(call.caller, why)
            return
        with self._watched(principal, call.caller):
            yield self._hello(principal, Cursor(log.store_id, log.seq, view), resumed=resumed)
            if not resumed:
                if after.store:
                    yield Gap()
                if (whole := await self._whole(principal, log)) is not None:
                    seq = whole.seq
                    yield whole
            async with aclosing(self._changes(principal, call.caller, seq, log)) as changes:
                async for change in changes:
                    yield change

    @contextmanager
    def _watched(self, principal: Principal, caller: Caller) -> Iterator[None]:
        """Count a watch; a person with the right to decide counts as attached meanwhile.

        A closing key does not prove that a person is there: any program of that user can read it.
        """
        decides = principal.role.includes(Role.DECIDER) and caller.attends(principal)
        by, closing = operator_of(principal, caller), principal.closing
        attached = AttachedDesk(by, self._runner.now(), closing)
        self._watches[principal.device, closing] += 1
        try:
            with self._runner.attendance.attending(attached, decides=decides):
                yield
        finally:
            self._watches[principal.device, closing] -= 1

    def _hello(self, principal: Principal, cursor: Cursor, *, resumed: bool) -> Hello:
        runner = self._runner
        now, challenge = runner.now(), self._authenticator.challenge
        among = runner.sharing
        places = among.desks_at, among.page_at
        return Hello(cursor, principal, now, resumed, challenge, among.part, *places)

    async def _whole(self, principal: Principal, log: UpdateLog) -> Whole | None:
        """Return all that a person may see; None where the log has ended."""
        if (place := await log.snapshot()) is None:
            return None
        seq, snapshot = place
        for card in (*snapshot.waiting, *snapshot.ended):
            await self.inputs.prepare(card)
        return Whole(seq, Visibility(principal, log).snapshot(snapshot))

    async def _changes(
        self, principal: Principal, caller: Caller, seq: int, log: UpdateLog
    ) -> AsyncGenerator[Watched | DeskRefusal, None]:
        """Yield the changes after a place in the hello's log, until the log ends."""
        sent_at = monotonic()
        visibility = Visibility(principal, log)
        while not log.closed:
            more = log.more
            if (now := self._authenticator.identified(caller, Permission.WATCH)) != principal:
                changed = "what this device may see has changed"
                yield Forbidden(now.why if isinstance(now, TeamRefusal) else changed)
                return
            batch = log.after(seq)
            if batch is None:
                yield Gap()
                if (whole := await self._whole(principal, log)) is not None:
                    seq = whole.seq
                    yield whole
            news: News | None = None
            for logged in batch or ():
                seq, news = logged.seq, visibility.of(logged.news)
                if news is not None:
                    if isinstance(news, Card):
                        await self.inputs.prepare(news)
                    yield VisibleChange(logged, news)
                    sent_at = monotonic()
            if (batch and news is None) or monotonic() - sent_at >= BOOKMARK_EVERY:
                yield Bookmark(seq, self._runner.now())
                sent_at = monotonic()
            if not batch:
                await _either(more, LOOK_EVERY)

    async def card(
        self,
        call: OpenCall,
        number: int,
        permission: Permission = Permission.READ,
        sent: Sent | None = None,
    ) -> Card | DeskRefusal:
        """Return a card that waits or ended lately; `sent` may be signed."""
        admit = partial(self._authenticator.admit, call.caller, permission, sent=sent)
        if isinstance(refusal := admit(), Forbidden):
            return refusal
        card = self._log.card(number)
        if card is None:
            return Gone(f"there is no #{number} any more")
        if isinstance(refusal := admit(target_of(card)), Forbidden):
            return refusal
        await self.inputs.prepare(card)
        if isinstance(refusal := admit(target_of(card)), Forbidden):  # rights may have ended
            return refusal
        return card

    # Commands.

    async def carry_out(
        self, call: OpenCall, asked: SubmittedCommand
    ) -> CommandReply | DeskRefusal:
        """Carry a command out, once; return its outcome. Raises TimeoutError for a long read."""
        caller, command = call.caller, asked.command
        principal = self._admitted(caller, asked)
        if isinstance(principal, DeskRefusal):
            return principal

        def may_not() -> str:
            now = self._authenticator.identified(caller, *self._needs(command), asked.sent)
            if isinstance(now, TeamRefusal):
                return now.why
            return "" if now == principal else _CHANGED

        desk = self._desk(operator_of(principal, caller))
        if (stale := self._stale(desk, asked)) is not None:
            return self._reply(command, stale, None, self._log.seq)
        proof = self._authenticator.proof(caller, principal, asked.sent)
        outcome, read, seq = await self._settled(desk, command, may_not, proof)
        why = outcome.why if isinstance(outcome, NotAllowed) else may_not() if read else ""
        if why:
            return self._authenticator.turn_away(caller, why)
        return self._reply(command, outcome, Visibility(principal, self._log).of(read), seq)

    async def look_over(self, call: OpenCall, asked: SubmittedCommand) -> DeskRefusal | None:
        """Return why a command could not be carried out now, None if it could; nothing is done.

        That is for a skin that holds an answer before it gives it: a wrong proof is told at once.
        """
        principal = self._admitted(call.caller, asked)
        return principal if isinstance(principal, DeskRefusal) else None

    def _admitted(self, caller: Caller, asked: SubmittedCommand) -> Principal | DeskRefusal:
        """Return who may have a command carried out here now."""
        command, elsewhere = asked.command, self._runner.elsewhere
        if not isinstance(command, Ask) and not _ID.fullmatch(command.id):
            return Malformed("its id must be 1 to 64 of [0-9A-Za-z_-]")
        if elsewhere and not isinstance(command, AskHistory | AskEntry):
            return self._stands_by(caller, elsewhere)
        return self._authenticator.admit(caller, *self._needs(command), asked.sent)

    def _stands_by(self, caller: Caller, elsewhere: Elsewhere) -> DeskRefusal:
        refusal = self._authenticator.admit(caller, Permission.WATCH)
        if isinstance(refusal, Forbidden):
            return refusal
        where = f", at {elsewhere.desks}" if elsewhere.desks else ""
        why = f"this server stands by and another server leads{where}: nothing was done"
        return StandsBy(why, elsewhere.desks)

    def _needs(self, command: Command) -> tuple[Permission, Target | None]:
        broker = self._runner.broker
        permission = permission_of(command, broker.orders())
        card = broker.card(getattr(command, "card", 0))
        live = partial(broker.live, self._runner.now())
        return permission, target_of_command(command, permission, card, live)

    def _desk(self, by: Operator) -> LocalDesk:
        """Return a person's desk, which is kept for a while with its reads.

        What the key that lies open asks about an edit counts for the signature that allows it.
        """
        runner, person = self._runner, at_desk(by)
        changes = self._edits.get(person) or ChangedCalls(runner.broker, runner.queries)
        desk = self._desks.get(by) or LocalDesk(runner, by, changes)
        self._edits[person], self._desks[by] = changes, desk
        return desk

    def _stale(self, desk: LocalDesk, asked: SubmittedCommand) -> Stale | None:
        """Return the outcome of a decision about a card that its operator did not see like this."""
        command = asked.command
        if not isinstance(command, _DECISIONS) or desk.was_given(command):
            return None
        card = self._runner.broker.card(command.card)
        if card is None or card.state is not State.WAITING:
            return None
        seen = self._log.seen(command.card, command.seen)
        if seen is not None and self.inputs.seen(seen) == asked.seen:
            return None
        return Stale(f"#{card.number} was not seen like this. Nothing was sent", card.revision)

    async def _settled(
        self, desk: LocalDesk, command: Command, may_not: MayNot, proof: CallProof | None
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
            desk.submit_if(may_not, command, proof)
            async with asyncio.timeout(WITHIN):
                settled: tuple[Outcome, News | None, int] = await done
        finally:
            stop()
        return settled

    def _reply(
        self, command: Command, outcome: Outcome, read: News | None, seq: int
    ) -> CommandReply:
        card = self._log.card(command.card) if isinstance(command, _DECISIONS) else None
        return CommandReply(outcome, seq, read, card)


async def _either(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
