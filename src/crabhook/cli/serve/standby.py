"""What a standby shows: the leader's cards, as the record tells them, for desks that look on."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import time as wall
from typing import TYPE_CHECKING

from crabhook.broker.messages import Mirrored, RestoredRequest
from crabhook.model.actor import Ended
from crabhook.model.card import Card, State
from crabhook.model.errors import CrabhookError
from crabhook.platforms import PLATFORMS
from crabhook.server.core.history import ended
from crabhook.server.core.journal_mapper import read_back
from crabhook.server.core.runner import Runner
from crabhook.store.change import Waiting
from crabhook.store.interface import Pace, StoreError
from crabhook.store.record import Record

if TYPE_CHECKING:
    from crabhook.store.postgres.tail import Seen, Tail


LOOK_EVERY = 1.0  # seconds between two looks at the record that no bell has asked for


class Follower:
    """Shows on one runner what another server has on record in the database at `url`.

    `pace` has how far it is behind.  The runner's own broker decides nothing of what it is shown.
    """

    def __init__(self, runner: Runner, url: str) -> None:
        self._runner, self._url = runner, url
        self._trouble, self._deaf = "", ""
        self._looked = runner.now()
        runner.faults.append(self._said)

    def __repr__(self) -> str:
        return f"<Follower of {self._runner.leader}>"

    @property
    def pace(self) -> Pace:
        """Return how long ago all of the record was known here."""
        leader = self._runner.leader
        return Pace(lag=max(0.0, self._runner.now() - self._looked), epoch=leader.epoch)

    def _said(self) -> str:
        """Say on the desks what this server is, and what is wrong."""
        leader = self._runner.leader
        who = f"{leader.name} leads" if leader.name else "nobody is known to lead"
        where = f", desks decide at {leader.desks}" if leader.desks else ""
        beside = "".join(f"; {one}" for one in (self._trouble, self._deaf) if one)
        return f"this server stands by: {who}{where}; nothing can be decided here{beside}"

    async def keep(self) -> None:
        """Follow the record until cancelled."""
        from crabhook.store.postgres.tail import Tail  # noqa: PLC0415 - few servers need it

        tail = Tail(self._url)
        try:
            while True:
                await self._look(tail)
        finally:
            await asyncio.to_thread(tail.close)

    async def _look(self, tail: "Tail") -> None:
        try:
            seen = await asyncio.to_thread(tail.look, LOOK_EVERY)
            if seen is not None:
                await self._show(seen)
                self._looked = self._runner.now()
            self._trouble = ""
        except StoreError as error:
            if self._trouble != str(error):
                _LOG.warning("what the leader does is not seen: %s", error)
            self._trouble = str(error)
            await asyncio.sleep(LOOK_EVERY)
        if tail.deaf != self._deaf:
            _LOG.warning("%s", tail.deaf or "notifications are heard again")
            self._deaf = tail.deaf

    async def _show(self, seen: "Seen") -> None:
        runner = self._runner
        runner.leader = seen.leader
        legs = [await self._leg(one) for one in seen.new if one.platform in PLATFORMS]
        cards = tuple(self._left(seen.gone, seen.ended))
        if legs or cards:
            runner.handle(Mirrored(tuple(legs), cards, runner.now()))

    async def _leg(self, kept: Waiting) -> RestoredRequest:
        now = wall()
        request = read_back(kept, PLATFORMS[kept.platform], self._runner.now(), now)
        risk = await self._runner.assess(request.event, long=True)
        return RestoredRequest(kept.card, request, kept.waited(now), risk=risk)

    def _left(self, gone: Mapping[str, int], ends: Sequence[Record]) -> list[Card]:
        """Return the cards that legs have left, as they are without them."""
        told, now = {one.card: one for one in ends}, self._runner.now()
        found: list[Card] = []
        for number in sorted(set(gone.values())):
            card = self._runner.broker.card(number)
            if card is None or card.state is not State.WAITING:
                continue
            if legs := tuple(leg for leg in card.requests if leg.id not in gone):
                found.append(replace(card, requests=legs))
                continue
            card = replace(card, state=State.WITHDRAWN, end=Ended.LEFT_BEFORE, ended_at=now)
            if number in told:
                with suppress(ValueError, TypeError, KeyError, AttributeError, CrabhookError):
                    card = ended(replace(card, end=None), told[number], now)
            found.append(card)
        return found
