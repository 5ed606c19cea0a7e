"""A real desk around a real broker, without a server: hooks ask and leave by hand, time stands still."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from crabhook.broker.broker import Broker
from crabhook.broker.messages import (
    Answered,
    Arrived,
    Closing,
    Delivered,
    Effect,
    Extended,
    Fact,
    Left,
    Note,
    Ordered,
    Reconsidered,
    Refuse,
    Resolve,
    Revoked,
    RuleAdded,
    Show,
    Snoozed,
    TimePassed,
)
from crabhook.broker.orders import against
from crabhook.desk.interface import News
from crabhook.model.actor import OWNER, Actor
from crabhook.model.card import Card, FeedEntry
from crabhook.model.decision import Decision
from crabhook.model.order import Order, Standing
from crabhook.model.reply import Reply
from crabhook.model.request import Origin, Request
from crabhook.platforms import PLATFORMS
from crabhook.policy.propose import Offering, TakenOffer
from crabhook.policy.rule import Rule
from crabhook.policy.ruling import Ruling
from tests.support.ruled import Judge, no_rules

NOBODY = Origin()


class BrokerDesk:
    """A `Desk`, and what is on its other side: hooks, named by their request ids, and time.

    `replies` and `refused` are what the hooks were given.  `decided` are the
    answers the desk carried out, in order.  `clock` runs by itself where a
    real one is given.  `words` are what agents last said, by card; None: still being read.
    `offered` are the rules offered for cards; None: still being tried.  `rules` are those taken.
    """

    def __init__(self, clock: Callable[[], float] | None = None, judge: Judge = no_rules) -> None:
        self.by: Actor = OWNER
        self.replies: dict[str, Reply] = {}
        self.refused: dict[str, str] = {}
        self.words: dict[int, str | None] = {}
        self.wrong: list[str] = []
        self.decided: list[tuple[int, Decision]] = []
        self.offered: dict[int, Offering | None] = {}
        self.rules: list[tuple[int, Rule]] = []
        self._broker, self._judge = Broker(PLATFORMS), judge
        self._clock = clock
        self._passed = 1000.0
        self._listeners: list[Callable[[Card | FeedEntry], None]] = []
        self._ids = count(1)

    # What a screen may see and do.

    def now(self) -> float:
        return self._clock() if self._clock else self._passed

    def waiting(self) -> Sequence[Card]:
        return self._broker.waiting()

    def card(self, number: int) -> Card | None:
        return self._broker.card(number)

    def ended(self) -> Sequence[Card]:
        return self._broker.ended()

    def last_words(self, number: int) -> str | None:
        return self.words.get(number, "")

    def troubles(self) -> Sequence[str]:
        return self.wrong

    def feed(self) -> Sequence[FeedEntry]:
        return self._broker.feed()

    def sessions(self) -> int:
        return self._broker.sessions()

    def answer(self, number: int, decision: Decision, seen: int | None = None) -> Card:
        rulings = self._rulings(number, decision)
        self._tell(Answered(number, decision, self.by, self.now(), rulings=rulings, seen=seen))
        self.decided.append((number, decision))
        return self._known(number)

    def objections(self, number: int, decision: Decision) -> Sequence[str]:
        return against(self._rulings(number, decision).values())

    def _rulings(self, number: int, decision: Decision) -> dict[str, Ruling | None]:
        changed = self._broker.changed(number, decision)
        return {leg: self._judge(event) for leg, event in changed.items()}

    def offers(self, number: int) -> Offering | None:
        return self.offered.get(number, Offering(why="nothing is offered here"))

    def remember(
        self, number: int, taken: TakenOffer, decision: Decision, seen: int | None = None
    ) -> Card:
        self._broker.check(number, decision, seen)
        offering = self.offered[number] or Offering()
        offered = {offer.id: offer.proposal.rule for offer in offering.offers}
        rule = replace(offered[taken.offer], expires=taken.expires)
        self.rules.append((number, rule))
        card = self.answer(number, decision, seen)
        self._tell(RuleAdded(number, str(rule), self.by, self.now()))
        for one in self._broker.alike(number):
            rulings = {leg.id: self._judge(leg.event) for leg in one.requests}
            self._tell(Reconsidered(rulings, self.now()))
        return card

    def holdable(self) -> Sequence[str]:
        return self._broker.holdable()

    def orders(self) -> Sequence[Standing]:
        return self._broker.orders()

    def order(self, order: Order) -> None:
        self._tell(Ordered(order, self.by, self.now()))

    def revoke(self, ids: frozenset[int]) -> None:
        self._tell(Revoked(ids, self.by, self.now()))

    def extend(self, number: int, seconds: float) -> Card:
        self._tell(Extended(number, seconds, self.by, self.now()))
        return self._known(number)

    def snooze(self, number: int, seconds: float) -> Card:
        self._tell(Snoozed(number, self.now() + seconds, self.by, self.now()))
        return self._known(number)

    def _known(self, number: int) -> Card:
        card = self._broker.card(number)
        assert card is not None
        return card

    def subscribe(self, listener: Callable[[News], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # What hooks and time do.

    @property
    def watched(self) -> bool:
        """Whether any screen still listens."""
        return bool(self._listeners)

    def ask(
        self,
        payload: Mapping[str, Any],
        *,
        wait: float = 600.0,
        origin: Origin = NOBODY,
        limit: float | None = None,
        platform: str = "claude",
    ) -> str:
        """Let a hook send an event; return its request id.  `limit`: its own time, as ours."""
        event = PLATFORMS[platform].read(json.dumps(payload).encode())
        name = f"request-{next(self._ids)}"
        gives_up_at = self.now() + (wait if limit is None else limit)
        request = Request(
            name,
            event,
            wait_until=self.now() + wait,
            origin=origin,
            gives_up_at=gives_up_at,
            secret="secret",
        )
        self._tell(Arrived(request, self._judge(event), 1, self.now()))
        return name

    def leave(self, name: str) -> None:
        """Let a hook end before it has its reply."""
        self._tell(Left(name, 1, self.now()))

    def deliver(self, name: str, *, whole: bool = True) -> None:
        """Let a hook take its reply, or be gone when it came."""
        self._tell(Delivered(name, whole, self.now()))

    def pass_time(self, seconds: float = 0.0) -> None:
        """Let so many seconds pass, and tell the broker."""
        self._passed += seconds
        self._tell(TimePassed(self.now()))

    def close(self) -> None:
        """Release whatever waits, as a server does that ends."""
        self._tell(Closing(self.now()))

    def _tell(self, fact: Fact) -> None:
        for effect in self._broker.handle(fact):
            self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Resolve():
                self.replies[effect.request_id] = effect.reply
            case Refuse():
                self.refused[effect.request_id] = effect.refusal
            case Show():
                self._news(effect.card)
            case Note():
                self._news(effect.entry)
            case _:
                pass  # WakeAt: the test lets time pass itself

    def _news(self, news: Card | FeedEntry) -> None:
        for listener in list(self._listeners):
            listener(news)
