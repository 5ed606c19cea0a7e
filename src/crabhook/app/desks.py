"""Opens the desk of `crabhook serve`: a full screen, plain lines, or a headless desk.

A headless desk logs its decisions. More people read a log than a desk, so secrets are redacted in
a call's summary, as in the record.

At a standby, desks see the leader's cards, as the record has them.
"""

import asyncio
import logging
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import time as wall
from typing import TYPE_CHECKING

from crabhook.app.logs import fields
from crabhook.broker.messages import Mirrored, RestoredRequest
from crabhook.config import Settings, state_folder
from crabhook.desk.updates import AttachedDesk, News
from crabhook.model.actor import OWNER, Ended, Headless
from crabhook.model.card import Card, FeedEntry, State
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event, ToolCall
from crabhook.model.wording import who
from crabhook.platforms import PLATFORMS
from crabhook.server.core.history import asked_again, ended
from crabhook.server.core.journal_mapper import read_back
from crabhook.server.core.runner import INCIDENT, Runner
from crabhook.server.core.steering import orders_in, taken_up
from crabhook.store.actors import actor_in
from crabhook.store.change import Waiting
from crabhook.store.interface import Pace, Query, StoreError
from crabhook.store.opening import Place, open_history
from crabhook.store.record import Kind, Record, iso
from crabhook.ui import headless
from crabhook.ui.console import say, takes_a_person
from crabhook.ui.terminal import standard_lines, standard_writer

if TYPE_CHECKING:
    from crabhook.platforms.interface import Platform
    from crabhook.store.postgres.tail import Seen, Tail
    from crabhook.ui.options import DeskOptions
    from crabhook.ui.tally import Tally


_LOG = logging.getLogger("crabhook.decisions")
_LOOKING_ON = logging.getLogger(__name__)

MOST_TODAY = 20_000  # the most decisions of a day that are counted
TAKE_BACK_MS = 2000
SHORT = 160  # characters of a call's summary in the log


def keep_log(runner: Runner) -> None:
    """Log each decision from now on, the server's own news, and observed events at debug."""
    from crabhook.store.redact import Redactor  # noqa: PLC0415 - only a headless desk logs
    from crabhook.ui.cards.summary import summary  # noqa: PLC0415 - the other desks import it first

    redactor = Redactor(secrets.token_bytes(16))

    def log(event: Event, decided: Decided) -> None:
        subject = redactor.text(summary(event, spell=str))
        about = fields(
            verdict=decided.decision.verdict.value,
            by=who(decided.by),
            event=event.name,
            tool=event.tool.name if event.tool else "",
            session=event.session,
            cwd=event.cwd,
            subject=subject if len(subject) <= SHORT else f"{subject[:SHORT]}…",
            reason=redactor.text(decided.decision.reason),
        )
        _LOG.info("decided", extra=about)

    runner.decided.append(log)
    runner.listen(_log_news)


def _log_news(news: News) -> None:
    if not isinstance(news, FeedEntry) or news.number is not None or news.event == INCIDENT:
        return  # a card is logged when it is decided, an incident where it is told
    event = news.event
    unread = event.name == "?"  # the event of an unreadable input
    if not event.platform or unread:
        _LOG.warning("%s", news.text)
    elif not news.text:
        _LOG.debug("observed", extra=fields(event=event.name, session=event.session, cwd=event.cwd))


async def open_desk(
    runner: Runner, settings: Settings, where: str, release: Callable[[], None]
) -> None:
    """Open the desk of the settings; return when the operator leaves it.

    `where` is the address to show; `release` ends what still waits then.
    """
    if settings.headless:
        keep_log(runner)
        await headless.run(runner.desk(Headless()), Verdict(settings.otherwise))
    elif settings.no_desk:
        keep_log(runner)
        await counted(runner, settings)
        desk, otherwise = runner.desk(Headless()), Verdict(settings.otherwise)
        await headless.stand_in(desk, otherwise, settings.alone, runner.attendance)
    else:
        with runner.attendance.attending(AttachedDesk(OWNER, runner.now())):
            if settings.plain:
                await _plain(runner, settings, where, release)
            else:
                await _full(runner, settings, where)


async def _plain(
    runner: Runner, settings: Settings, where: str, release: Callable[[], None]
) -> None:
    desk, a_person = runner.desk(OWNER), takes_a_person()
    write = standard_writer(words=a_person)
    with suppress(OSError):  # nobody reads it; the desk notices that too
        await write(f"· listening on {where}")
    from crabhook.ui.plain import desk as plain  # noqa: PLC0415 - hooks can connect meanwhile
    from crabhook.ui.plain.person import Detail  # noqa: PLC0415

    tally = await counted(runner, settings)
    try:
        detail = Detail(settings.detail) if a_person else None
        options = plain.PlainOptions(settings.take_back_ms or 0, detail, from_start=True)
        await plain.run(desk, standard_lines(), write, options=options)
    finally:
        await plain.farewell(desk, release, write, tally.summary if a_person else None)
        write.close()


async def counted(runner: Runner, settings: Settings) -> "Tally":
    """Count all decisions of today, earlier ones from the record, for every desk."""
    from crabhook.ui.tally import Tally  # noqa: PLC0415 - hooks can connect meanwhile

    tally = Tally()
    runner.decided.append(tally.count)
    runner.today, runner.alike = tally.today, tally.alike
    await asyncio.to_thread(count_today, tally, settings.store or state_folder())
    return tally


def count_today(tally: "Tally", place: Place) -> None:
    """Count the recorded decisions since midnight."""
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    today = Query(since=iso(midnight.timestamp()), kinds=(Kind.DECIDED.value,), last=MOST_TODAY)
    with suppress(CrabhookError), open_history(place) as history:
        for record in history.find(today):
            with suppress(ValueError):  # a verdict of another version
                data = record.data()
                made = Decision(Verdict(record.verdict))
                if "edited" in data:
                    made = replace(made, updated_input={})
                tool = ToolCall(record.tool, data.get("input")) if record.tool else None
                event = Event(record.platform, "PreToolUse", tool=tool)
                tally.count(event, Decided(made, actor_in(data)), earlier=True)


async def _full(runner: Runner, settings: Settings, where: str) -> None:
    from crabhook.ui.full import app  # noqa: PLC0415 - the other desks do not need it

    tally = await counted(runner, settings)
    waiting = await app.run(runner.desk(OWNER), options=chosen(settings), title=where)
    for line in tally.summary(waiting):
        say(line)


def chosen(settings: Settings) -> "DeskOptions":
    """Return the operator's options for the full screen."""
    from crabhook.ui.options import Attention, CardKind, DeskOptions  # noqa: PLC0415
    from crabhook.ui.text.style import (  # noqa: PLC0415 - as above
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
    from crabhook.install.settings_file import has_hooks  # noqa: PLC0415 - only a full screen asks
    from crabhook.platforms.installation import Scope  # noqa: PLC0415 - likewise

    def hooked(agent: "Platform") -> bool:
        with suppress(CrabhookError):
            return has_hooks(agent.settings.path(Scope.USER, Path(), os.environ))
        return False

    return tuple(sorted(name for name, agent in PLATFORMS.items() if not hooked(agent)))


LOOK_EVERY = 1.0  # seconds between two looks at the record without a notification
LOST_AFTER = 30.0  # seconds without the record, after which no hook need await another leader
TOGETHER = 32  # records shown before the desks' own tasks run
_UNREAD = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


class Follower:
    """Shows a standby's runner the leader's record at `url`; its own broker decides none of it."""

    def __init__(self, runner: Runner, url: str) -> None:
        self._runner, self._url = runner, url
        self._trouble = self._deaf = self._older = ""
        self._looked = self._reached = runner.now()
        self._steering: object = None  # the orders and notes shown last, as on record
        runner.faults.append(self._said)

    @property
    def pace(self) -> Pace:
        """The lag: how long ago all of the record was known here."""
        leader = self._runner.leader
        return Pace(lag=max(0.0, self._runner.now() - self._looked), epoch=leader.epoch)

    def _said(self) -> str:
        """Say that this server stands by, who leads, and what is wrong."""
        leader = self._runner.leader
        who = f"{leader.name} leads" if leader.name else "nobody is known to lead"
        where = f", desks decide at {leader.desks}" if leader.desks else ""
        beside = "".join(f"; {one}" for one in (self._trouble, self._deaf, self._older) if one)
        return f"this server stands by: {who}{where}; nothing can be decided here{beside}"

    async def keep(self) -> None:
        """Follow the record until cancelled."""
        from crabhook.store.postgres.tail import Tail  # noqa: PLC0415 - few servers need it

        tail = Tail(self._url, state_folder())
        try:
            while True:
                await self._look(tail)
        finally:
            await asyncio.to_thread(tail.close)

    async def _look(self, tail: "Tail") -> None:
        runner = self._runner
        try:
            seen = await asyncio.to_thread(tail.look, LOOK_EVERY)
            if seen is not None:
                await self._show(seen)
                self._looked = runner.now()
            self._trouble, self._reached, runner.record_lost = "", runner.now(), False
        except StoreError as error:
            if self._trouble != str(error):
                _LOOKING_ON.warning("what the leader does is not seen: %s", error)
            self._trouble = str(error)
            runner.record_lost = runner.now() - self._reached > LOST_AFTER
            await asyncio.sleep(LOOK_EVERY)
        if tail.deaf != self._deaf:
            _LOOKING_ON.warning("%s", tail.deaf or "notifications are heard again")
        if tail.older and not self._older:
            _LOOKING_ON.error("this server cannot lead: %s", tail.older)
        self._deaf, self._older = tail.deaf, tail.older

    async def _show(self, seen: "Seen") -> None:
        """Show the records in order; then waiting requests, or ended ones, without a record."""
        runner = self._runner
        runner.leader = seen.leader
        known = [one for one in seen.new if one.platform in PLATFORMS]
        waits = {(one.card, one.request_id): await self._leg(one) for one in known}
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
            _LOOKING_ON.info("shown anew up to record %s: no news of each card before", seen.seq)
            runner.publish_anew()

    def _steer(self, seen: "Seen") -> None:
        """Show the standing orders and the waiting notes."""
        steering, now, at = (seen.halts, seen.orders), self._runner.now(), wall()
        if seen.halts is None or steering == self._steering:
            return
        self._steering = steering
        try:
            halts, notes = taken_up(seen.halts, now, at)
            orders = (*halts, *orders_in(seen.orders, now, at)[1])
            self._runner.handle(Mirrored((), (), now, orders, notes))
        except CrabhookError as error:
            _LOOKING_ON.warning("the standing orders on record cannot be shown: %s", error)

    def _step(self, record: Record, waits: dict[tuple[int, str], RestoredRequest]) -> None:
        """Show a record's change of a card; remove a request that it shows from `waits`."""
        number, now = record.card or 0, self._runner.now()
        card, leg = self._runner.broker.card(number), (number, record.request_id)
        if record.platform not in PLATFORMS or (card and card.state is not State.WAITING):
            return
        others = tuple(one for one in card.requests if one.id != record.request_id) if card else ()
        if record.kind == Kind.ASKED:
            if card is None or others == card.requests:  # else it is shown already
                asked = waits.pop(leg, None) or asked_again(record, now, wall())
                self._runner.handle(Mirrored((asked,), (), now))
        elif record.kind != Kind.LEFT:
            card = card or Card(number, (asked_again(record, now, wall()).request.leg(""),), now)
            self._runner.handle(Mirrored((), (ended(card, record, now),), now))
        elif card and others:
            self._runner.handle(Mirrored((), (replace(card, requests=others),), now))

    async def _leg(self, kept: Waiting) -> RestoredRequest:
        now = wall()
        request = read_back(kept, PLATFORMS[kept.platform], self._runner.now(), now)
        risk = await self._runner.assess(request.event, long=True)
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
