"""Opens the desk of `crabhook serve`: a full screen, plain lines, or a headless desk.

At a standby, desks see the leader's cards, as the record has them.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import time as wall
from typing import TYPE_CHECKING

from crabhook.app.leadership import StandingBy
from crabhook.app.wiring import Wired
from crabhook.broker.messages import Mirrored, RestoredRequest
from crabhook.config import Settings, state_folder
from crabhook.datatypes import frozen
from crabhook.desk.updates import AttachedDesk
from crabhook.model.actor import OWNER, Ended, Headless
from crabhook.model.card import Card, State
from crabhook.model.decision import Verdict
from crabhook.model.errors import CrabhookError
from crabhook.platforms import HOOKED, PLATFORMS
from crabhook.server.core.history import asked_again, ended
from crabhook.server.core.journal_mapper import read_back
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.persisted_orders import orders_in, taken_up
from crabhook.server.core.runner import Runner
from crabhook.store.change import Waiting
from crabhook.store.interface import StoreError
from crabhook.store.record import Record, RecordKind
from crabhook.ui import headless
from crabhook.ui.console import say, takes_a_person
from crabhook.ui.terminal import standard_lines, standard_writer

if TYPE_CHECKING:
    from crabhook.platforms.interface import Platform
    from crabhook.store.postgres.standby_reader import LeaderChanges, StandbyReader
    from crabhook.ui.options import DeskOptions, PageToOpen


_LOOKING_ON = logging.getLogger(__name__)

TAKE_BACK_MS = 2000


@frozen
class Whereabouts:
    """Where a server listens, as its desk shows it, and its page, with what to know of it."""

    listening: str
    page: str = ""
    page_words: Sequence[str] = ()
    page_code: Sequence[str] = ()


async def open_desk(
    wired: Wired, settings: Settings, where: Whereabouts, release: Callable[[], None]
) -> None:
    """Open the desk of the settings; return when the operator leaves it.

    `release` ends what still waits then.
    """
    runner, day, place = wired.runner, wired.day, settings.store or state_folder()
    if settings.headless:
        wired.log.begin(runner)
        await headless.run(LocalDesk(runner, Headless()), Verdict(settings.otherwise))
    elif settings.no_desk:
        wired.log.begin(runner)
        await day.begin(place)
        desk, otherwise = LocalDesk(runner, Headless()), Verdict(settings.otherwise)
        await headless.stand_in(desk, otherwise, settings.alone, runner.attendance)
    else:
        with runner.attendance.attending(AttachedDesk(OWNER, runner.now())):
            if settings.plain:
                await _plain(wired, settings, where, release)
            else:
                await _full(wired, settings, where)


async def _plain(
    wired: Wired, settings: Settings, where: Whereabouts, release: Callable[[], None]
) -> None:
    runner = wired.runner
    desk, a_person = LocalDesk(runner, OWNER), takes_a_person()
    write = standard_writer(words=a_person)
    with suppress(OSError):  # nobody reads it; the desk notices that too
        await write(f"· listening on {where.listening}")
        for line in where.page_words if a_person else ():
            await write(f"· {line}")
    from crabhook.ui.plain import desk as plain  # hooks can connect meanwhile
    from crabhook.ui.plain.person import DetailLevel

    tally = await wired.day.begin(settings.store or state_folder())
    try:
        detail = DetailLevel(settings.detail) if a_person else None
        options = plain.PlainOptions(settings.take_back_ms or 0, detail, from_start=True)
        await plain.run(desk, standard_lines(), write, options=options)
    finally:
        await plain.farewell(desk, release, write, tally.summary if a_person else None)
        write.close()


async def _full(wired: Wired, settings: Settings, where: Whereabouts) -> None:
    from crabhook.ui.full import app  # the other desks do not need it

    # Before the screen, which covers it: it stands on the terminal again when the desk is left.
    write = standard_writer(words=True)
    for line in where.page_words:
        await write(line)
    write.close()
    tally = await wired.day.begin(settings.store or state_folder())
    waiting = await app.run(
        LocalDesk(wired.runner, OWNER),
        options=replace(chosen(settings), page=_page_to_open(where)),
        title=where.page or where.listening,
    )
    for line in tally.summary(waiting):
        say(line)


def _page_to_open(where: Whereabouts) -> "PageToOpen | None":
    from crabhook.ui.options import PageToOpen

    if not where.page:
        return None
    return PageToOpen(where.page, tuple(where.page_words[1:]), tuple(where.page_code))


def chosen(settings: Settings) -> "DeskOptions":
    """Return the operator's options for the full screen."""
    from crabhook.ui.options import Attention, CardKind, DeskOptions
    from crabhook.ui.text.style import (  # as above
        Theme,
        draws_letters,
        theme_in,
    )

    calls = {
        way: frozenset(map(CardKind, getattr(settings, way)))
        for way in ("bell", "notify", "title", "command")
    }
    take_back = settings.take_back_ms
    return DeskOptions(
        arming_ms=settings.arming_ms,
        take_back_ms=TAKE_BACK_MS if take_back is None else take_back,
        advance=settings.advance,
        theme=theme_in(os.environ, Theme(settings.theme)),
        ascii=settings.ascii or not draws_letters(sys.stdout, os.environ),
        reasons=settings.reasons,
        attention=Attention(**calls, sequence=settings.sequence, program=settings.program),
        unhooked=unhooked(),
    )


def unhooked() -> tuple[str, ...]:
    """Return the agents whose readable user settings have no hook of ours."""
    from crabhook.install.settings_file import has_hooks  # only a full screen asks
    from crabhook.platforms.installation import SettingsScope  # likewise

    def hooked(agent: "Platform") -> bool:
        with suppress(CrabhookError):
            return has_hooks(agent.settings.path(SettingsScope.USER, Path(), os.environ))
        return False

    return tuple(sorted(name for name, agent in HOOKED.items() if not hooked(agent)))


LOOK_EVERY = 1.0  # seconds between two looks at the record without a notification
LOST_AFTER = 30.0  # seconds without the record, after which no hook need await another leader
TOGETHER = 32  # records shown before the desks' own tasks run
_UNREAD = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


class Follower:
    """Shows a standby's runner the leader's record at `url`; its own broker decides nothing."""

    def __init__(self, runner: Runner, standing: StandingBy, url: str) -> None:
        self._runner, self._standing, self._url = runner, standing, url
        self._trouble = self._deaf = self._older = ""
        self._reached = runner.now()
        self._steering: object = None  # the orders and notes shown last, as on record

    def trouble(self) -> str:
        """Say that this server stands by, who leads, and what is wrong."""
        leader = self._standing.leader
        who = f"{leader.name} leads" if leader.name else "nobody is known to lead"
        where = f", desks decide at {leader.desks}" if leader.desks else ""
        beside = "".join(
            f"; {trouble}" for trouble in (self._trouble, self._deaf, self._older) if trouble
        )
        return f"this server stands by: {who}{where}, nothing can be decided here{beside}"

    async def keep(self) -> None:
        """Follow the record until cancelled."""
        from crabhook.store.postgres.standby_reader import StandbyReader  # few servers need it

        reader = StandbyReader(self._url, state_folder())
        try:
            while True:
                await self._look(reader)
        finally:
            await asyncio.to_thread(reader.close)

    async def _look(self, reader: "StandbyReader") -> None:
        runner, standing = self._runner, self._standing
        try:
            seen = await asyncio.to_thread(reader.look, LOOK_EVERY)
            if seen is not None:
                await self._show(seen)
                standing.seen()
            self._trouble, self._reached, standing.record_lost = "", runner.now(), False
        except StoreError as error:
            if self._trouble != str(error):
                _LOOKING_ON.warning("what the leader does is not seen: %s", error)
            self._trouble = str(error)
            standing.record_lost = runner.now() - self._reached > LOST_AFTER
            await asyncio.sleep(LOOK_EVERY)
        if reader.deaf != self._deaf:
            _LOOKING_ON.warning("%s", reader.deaf or "notifications are heard again")
        if reader.older and not self._older:
            _LOOKING_ON.error("this server cannot lead: %s", reader.older)
        self._deaf, self._older = reader.deaf, reader.older

    async def _show(self, seen: "LeaderChanges") -> None:
        """Show the records in order; then waiting or ended requests without a record."""
        runner = self._runner
        self._standing.leader = seen.leader
        readable = [request for request in seen.new if request.platform in PLATFORMS]
        waits = {
            (request.card, request.request_id): await self._leg(request) for request in readable
        }
        for place, record in enumerate(seen.records):
            if place % TOGETHER == TOGETHER - 1 and not seen.anew:
                await asyncio.sleep(0)  # let the desks' tasks run
            try:
                self._step(record, waits)
            except (*_UNREAD, CrabhookError) as error:
                _LOOKING_ON.warning("record %s cannot be shown: %r", record.seq, error)
        legs, cards = tuple(waits.values()), tuple(self._left(seen.gone))
        if legs or cards:
            runner.handle(Mirrored(legs, cards, runner.now()))
        self._steer(seen)
        if seen.anew:
            _LOOKING_ON.info("shown again up to record %s: no news of each card before", seen.seq)
            runner.publish_anew()

    def _steer(self, seen: "LeaderChanges") -> None:
        """Show the standing orders, the waiting notes, and the votes."""
        steering, now, at = (seen.halts, seen.orders), self._runner.now(), wall()
        if seen.halts is None or steering == self._steering:
            return
        self._steering = steering
        try:
            taken = taken_up(seen.halts, now, at)
            orders = (*taken.lasting, *orders_in(seen.orders, now, at)[1])
            ballots = self._runner.with_electorates(taken.ballots)
            self._runner.handle(Mirrored((), (), now, orders, taken.notes, ballots, taken.asked))
        except CrabhookError as error:
            _LOOKING_ON.warning("the standing orders on record cannot be shown: %s", error)

    def _step(self, record: Record, waits: dict[tuple[int, str], RestoredRequest]) -> None:
        """Show a record's change of a card; remove a request that it shows from `waits`."""
        number, now = record.card or 0, self._runner.now()
        card, leg = self._runner.broker.card(number), (number, record.request_id)
        if record.platform not in PLATFORMS or (card and card.state is not State.WAITING):
            return
        others = tuple(leg for leg in card.requests if leg.id != record.request_id) if card else ()
        if record.kind == RecordKind.ASKED:
            if card is None or others == card.requests:  # else it is shown already
                asked = waits.pop(leg, None) or asked_again(record, now, wall())
                self._runner.handle(Mirrored((asked,), (), now))
        elif record.kind != RecordKind.LEFT:
            card = card or Card(number, (asked_again(record, now, wall()).request.leg(""),), now)
            self._runner.handle(Mirrored((), (ended(card, record, now),), now))
        elif card and others:
            self._runner.handle(Mirrored((), (replace(card, requests=others),), now))

    async def _leg(self, kept: Waiting) -> RestoredRequest:
        now = wall()
        request = read_back(kept, PLATFORMS[kept.platform], self._runner.now(), now)
        risk = await self._runner.rules.risk(request.event, long=True)
        return RestoredRequest(kept.card, request, kept.waited(now), risk=risk)

    def _left(self, gone: Mapping[str, int]) -> Iterator[Card]:
        """Yield the cards of legs that left without a record, as they are now."""
        for number in sorted(set(gone.values())):
            card = self._runner.broker.card(number)
            if card is None or card.state is not State.WAITING:
                continue
            legs = tuple(leg for leg in card.requests if gone.get(leg.id) != number)
            if not legs:
                at = self._runner.now()
                yield replace(card, state=State.WITHDRAWN, end=Ended.LEFT_BEFORE, ended_at=at)
            elif legs != card.requests:
                yield replace(card, requests=legs)
