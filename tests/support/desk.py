"""The real desk on the real core, whose hooks, time and slow readings a test plays by hand."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from crabhook.broker.messages import (
    Answered,
    Arrived,
    Closing,
    Delivered,
    Effect,
    Fact,
    Left,
    Reconsidered,
    Refuse,
    Resolve,
    TimePassed,
)
from crabhook.desk.commands import TakenOffer
from crabhook.desk.updates import Offer, Offering
from crabhook.hook.statement import ticket_digest
from crabhook.model.actor import OWNER, Actor
from crabhook.model.ballot import Terms
from crabhook.model.card import Card, FeedEntry, Origin, Request, Stance
from crabhook.model.signing import SignedOnly
from crabhook.model.wording import until
from crabhook.platforms import PLATFORMS
from crabhook.server.core.history import MemoryHistory
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.parts import Parts
from crabhook.server.core.runner import Runner
from crabhook.store.commit import Commit
from tests.support.ruled import Judge, no_rules, risk_of
from tests.support.seat import Seat

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from crabhook.desk.updates import HistoryRead, HouseChanged, Past, Update
    from crabhook.model.card import Risk
    from crabhook.model.decision import Decision, Reply
    from crabhook.model.event import Event
    from crabhook.policy.rule import Ruling

NOBODY = Origin()
WALL = time.mktime((2023, 11, 14, 22, 13, 20, 0, 0, -1))
"""The wall clock when a played desk begins: 22:13 in every time zone."""
PLAYED_SECRET = "the secret of a played ticket"
V = TypeVar("V")


class PlayedDay:
    """The counts of a day, as the test says."""

    text = ""
    counted = (0, 0, "")

    def today(self) -> str:
        return self.text

    def alike(self, _event: Event, /) -> tuple[int, int, str]:
        return self.counted


class PlayedRunner(Runner):
    """A runner with no loop: what it gives its hooks is kept, and its time stands still.

    `clock` runs by itself where a real one is given. `parts` are of the runner.
    """

    def __init__(self, clock: Callable[[], float] | None, **parts: Any) -> None:
        self.played = PlayedDay()
        super().__init__(Parts(PLATFORMS, **{"counts": self.played, **parts}))
        self.stands = ""
        self.clock, self.passed = clock, 1000.0
        self.replies: dict[str, Reply] = {}
        self.refused: dict[str, str] = {}
        self.wrong: list[str] = []
        self.warned: list[tuple[str, bool]] = []
        self.answers: list[tuple[int, Decision]] = []
        self.past = MemoryHistory(lambda: WALL + self.now() - 1000.0)

    def now(self) -> float:
        return self.clock() if self.clock else self.passed

    def write(self, fact: Fact, effects: Sequence[Effect]) -> Commit:
        self.past.on_fact(fact, effects)
        if isinstance(fact, Answered):
            self.answers.append((fact.number, fact.decision))
        return Commit.ended()

    def state(self) -> str:
        return self.stands

    def stand(self, house: HouseChanged) -> None:
        """Let rules and record stand like this from now on, and the day be counted so."""
        self.stands, self.played.text = house.state, house.today

    def warn(self, text: str, *, alarm: bool = True) -> None:
        self.warned.append((text, alarm))

    def unrecorded(self, fact: Fact, error: BaseException | None) -> None:
        raise AssertionError(fact, error)

    def resolve(self, effect: Resolve) -> None:
        self.replies[effect.request_id] = effect.reply

    def refuse(self, effect: Refuse) -> None:
        self.refused[effect.request_id] = effect.refusal

    def wake_at(self, at: float) -> None:
        """The test lets time pass itself."""

    def publish_sessions_soon(self) -> None:
        """The test lets time pass itself."""

    def troubles(self) -> tuple[str, ...]:
        return tuple(self.wrong)


class Later(dict[int, V | None]):
    """What is read of cards; None: it is still being read. Who has asked is told once it is set."""

    def __init__(self, otherwise: V) -> None:
        super().__init__()
        self._otherwise = otherwise
        self._asked: dict[int, list[Callable[[V], object]]] = {}

    def ask(self, number: int, tell: Callable[[V], object]) -> None:
        value = self.get(number, self._otherwise)
        if value is None:
            self._asked.setdefault(number, []).append(tell)
        else:
            tell(value)

    def __setitem__(self, number: int, value: V | None) -> None:
        super().__setitem__(number, value)
        if value is not None:
            for tell in self._asked.pop(number, []):
                tell(value)


def _number(about: str) -> int:
    return int("".join(letter for letter in about if letter.isdecimal()))


class PlayedReadings:
    """Rules are asked at once; what agents said and what is offered is as the test says."""

    def __init__(self, runner: Runner, judge: Judge) -> None:
        self._runner, self.judge = runner, judge
        self.past = runner.past
        self.offered_for: dict[str, Event] = {}
        self.said: Later[str] = Later("")
        self.prompts: dict[int, str] = {}
        self.offered: Later[Offering] = Later(Offering(why="nothing is offered here"))
        self.denials: Later[Offering] = Later(Offering(why="no denial is offered here"))
        self.rules: list[tuple[int, Offer]] = []
        self.reasons: list[str] = []  # of the rules taken

    def offers(
        self, about: str, event: Event, tell: Callable[[Offering], object], *, denies: bool = False
    ) -> None:
        self.offered_for[about] = event
        (self.denials if denies else self.offered).ask(_number(about), tell)

    def history(self, before: int, tell: Callable[[HistoryRead], object]) -> None:
        self.past.ask(before, tell)

    def entry(self, number: int, tell: Callable[[Past | None], object]) -> None:
        self.past.entry(number, tell)

    def words(self, card: Card, tell: Callable[[str, str], object]) -> None:
        number = card.number
        self.said.ask(number, lambda words: tell(words, self.prompts.get(number, "")))

    def rulings(
        self,
        calls: Mapping[str, Event],
        tell: Callable[[Mapping[str, Ruling | None], Hashable, Risk], object],
    ) -> None:
        risk = max(map(risk_of, calls.values()), key=lambda one: one.level)
        tell({leg: self.judge(event) for leg, event in calls.items()}, self.judge, risk)

    def edition(self, _calls: Mapping[str, Event]) -> Hashable:
        return self.judge

    def keep_rule(
        self, taken: TakenOffer, about: str, _by: Actor, *, denies: bool = False, reason: str = ""
    ) -> str:
        self.reasons.append(reason)
        number = _number(about)
        kinds = (self.offered.get(number), self.denials.get(number))
        offered = {offer.id: offer for kind in kinds if kind for offer in kind.offers}
        kept = replace(offered[taken.offer], expires=taken.expires)
        if denies:
            kept = replace(kept, rule=kept.rule.replace("allow ", "deny ", 1))
        self.rules.append((number, kept))
        return f"{kept.rule} · {until(kept.expires)}"

    def judge_again(self, cards: Sequence[Card], *, denies: bool = False) -> None:
        for card in cards:
            rulings = {leg.id: self.judge(leg.event) for leg in card.requests}
            self._runner.handle(Reconsidered(rulings, self._runner.now(), denies))


class PlayedDesk(LocalDesk):
    """A desk, and what is on its other side: hooks, named by their request ids, and time.

    `replies` and `refused` are what the hooks were given. `decided` are the answers that were
    carried out, in order. `words` are what agents last said, `offered` the rules offered for
    cards; None: still being read. `rules` are those taken. `seat` is another operator's.
    """

    def __init__(
        self,
        clock: Callable[[], float] | None = None,
        judge: Judge = no_rules,
        by: Actor = OWNER,
        **parts: Any,
    ) -> None:
        self.runner = PlayedRunner(clock, **parts)
        self.read = PlayedReadings(self.runner, judge)
        self.runner.queries = self.read
        super().__init__(self.runner, by)
        self.now = self.runner.now
        self.replies, self.refused = self.runner.replies, self.runner.refused
        self.wrong, self.decided = self.runner.wrong, self.runner.answers
        self.words, self.offered, self.rules = self.read.said, self.read.offered, self.read.rules
        self.denials = self.read.denials
        self._ids = count(1)
        self.seat = Seat(LocalDesk(self.runner, by), self.runner)
        self.answer, self.order, self.snooze = self.seat.answer, self.seat.order, self.seat.snooze
        self.revoke = self.seat.revoke
        self.replica = replica = self.seat.replica
        self.waiting, self.card, self.ended = replica.waiting, replica.card, replica.ended
        self.feed, self.orders, self.holdable = replica.feed, replica.orders, replica.holdable
        self.live = replica.live

    @property
    def watched(self) -> bool:
        """Whether any screen still listens."""
        return bool(self._streams)

    def listen(self, listener: Callable[[Card | FeedEntry], object]) -> Callable[[], None]:
        """Tell `listener` of cards and of what goes by, and of nothing else."""

        def told(update: Update) -> None:
            if isinstance(update.news, Card | FeedEntry):
                listener(update.news)

        return self.subscribe(told)

    # What hooks and time do.

    def ask(
        self,
        payload: Mapping[str, Any],
        *,
        wait: float = 600.0,
        origin: Origin = NOBODY,
        limit: float | None = None,
        platform: str = "claude",
        stance: Stance = Stance.GATE,
        strict: int = 0,
    ) -> str:
        """Let a hook send an event; return its request id. `limit`: its own time, as ours.

        `strict`: how many people it wants to sign its reply; 0 for a hook that prints any.
        """
        sent = json.dumps(payload).encode()
        event = PLATFORMS[platform].read(sent)
        event = replace(event, machine=origin.machine)  # as the intake does
        name = f"request-{next(self._ids)}"
        request = Request(
            name,
            event,
            wait_until=self.now() + wait,
            stance=stance,
            origin=origin,
            gives_up_at=self.now() + (wait if limit is None else limit),
            secret=PLAYED_SECRET,
            strict=SignedOnly(sent, ticket_digest(PLAYED_SECRET)) if strict else None,
            terms=(Terms(strict),) if strict > 1 else (),
        )
        ruling, risk = self.read.judge(event), risk_of(event)
        self.runner.handle(Arrived(request, ruling, 1, self.now(), risk=risk))
        return name

    def leave(self, name: str) -> None:
        """Let a hook end before it has its reply."""
        self.runner.handle(Left(name, 1, self.now()))

    def deliver(self, name: str, *, whole: bool = True) -> None:
        """Let a hook take its reply, or be gone when it came."""
        self.runner.handle(Delivered(name, whole, self.now()))

    def pass_time(self, seconds: float = 0.0) -> None:
        """Let so many seconds pass, and tell the broker."""
        self.runner.passed += seconds
        self.runner.handle(TimePassed(self.now()))
        self.runner.do(self.runner.publish_sessions)

    def close(self) -> None:
        """Release whatever waits, as a server does that ends."""
        self.runner.handle(Closing(self.now()))
