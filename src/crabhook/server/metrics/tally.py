"""The count of what becomes of requests: each that is taken in waits, or has ended in one way.

That holds at any moment, whatever connections are lost, cards merge, or servers were killed.
Names that an agent made up are counted as "other", so that no agent makes labels.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from crabhook.broker import messages
from crabhook.model import actor
from crabhook.model.card import Card, Request, State
from crabhook.model.decision import Decided
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS

_LOG = logging.getLogger(__name__)

OTHER = "other"
HERE = "here"  # the role of who decides at the server's own terminal


class End(StrEnum):
    """How a request ended, as it is counted."""

    DECIDED = "decided"
    OBSERVED = "observed"
    EXPIRED = "expired"
    HOOK_LEFT = "hook-left"
    ANSWERED_AT_AGENT = "answered-at-agent"
    AWAY = "away"
    OPERATOR_LEFT = "operator-left"
    NEVER_CAME_BACK = "never-came-back"
    LED_ELSEWHERE = "led-elsewhere"  # it goes on at the server that leads now
    UNDECIDED = "undecided"  # no opinion for another reason, such as that there was none before


class TurnedAway(StrEnum):
    """What a call of a desk elsewhere is refused for, as it is counted."""

    TEAM = "team"  # the team's file cannot be used, so nobody elsewhere may do anything
    CERTIFICATE = "certificate"  # of no device in the team, or of one that is not any more
    RIGHTS = "rights"  # the role, the limits or the key
    ROOM = "room"  # too many calls of one device, or from one address, are open


class By(StrEnum):
    """Who decided, as it is counted."""

    OPERATOR = "operator"
    RULE = "rule"
    ORDER = "order"
    HEADLESS = "headless"
    OTHER = OTHER


_ENDED: Mapping[actor.Ended, End] = {
    actor.Ended.HOOK_LEFT: End.HOOK_LEFT,
    actor.Ended.DESK_CLOSED: End.OPERATOR_LEFT,
    actor.Ended.AWAY: End.AWAY,
    actor.Ended.NEVER_CAME_BACK: End.NEVER_CAME_BACK,
    actor.Ended.LEFT_BEFORE: End.UNDECIDED,
}
_BY: Mapping[type[actor.Actor], By] = {
    actor.Operator: By.OPERATOR,
    actor.Rule: By.RULE,
    actor.StandingOrder: By.ORDER,
    actor.Headless: By.HEADLESS,
    actor.Nobody: By.OTHER,
}


def _end_of(why: actor.EndReason | None) -> End:
    if isinstance(why, actor.AnsweredAtAgent):
        return End.ANSWERED_AT_AGENT
    if isinstance(why, actor.TimeUp):
        return End.EXPIRED
    return _ENDED[why] if why else End.UNDECIDED


def labels_of(event: Event) -> tuple[str, str]:
    """Return the platform and the name an event is counted under."""
    if event.platform not in PLATFORMS:
        return OTHER, OTHER
    known = PLATFORMS[event.platform].events
    return event.platform, event.name if event.name in known else OTHER


class Witness:
    """One that takes no note of anything; what counts takes its place (`server.metrics.tally`).

    What it is told may be hostile, and must not be changed.
    """

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def handled(self, fact: messages.Fact, effects: Sequence[messages.Effect]) -> None:
        """Hear of a fact, in the order they came, and of what will be done about it."""

    def unread(self, platform: str) -> None:
        """Hear of a hook's input that nobody could read."""

    def refused(self, refusal: messages.Refusal) -> None:
        """Hear of a request that was turned away at the door."""

    def stranger(self) -> None:
        """Hear of somebody who showed no token, or a wrong one."""

    def turned_away(self, why: TurnedAway) -> None:
        """Hear of a call of a desk elsewhere that was refused."""


class Tally(Witness):
    """Counts what a runner does, from its first fact on.

    `waited` hears how long each request waited that an operator decided, in seconds.
    """

    def __init__(self, waited: Callable[[float], object] = lambda _seconds: None) -> None:
        self._waited = waited
        self.taken_in: Counter[tuple[str, str]] = Counter()
        self.ended: Counter[End] = Counter()
        self.decisions: Counter[tuple[By, str]] = Counter()
        self.roles: Counter[tuple[str, str]] = Counter()
        self.turned_away_for: Counter[TurnedAway] = Counter()
        self.refusals: Counter[messages.Refusal] = Counter()
        self.receipts: Counter[bool] = Counter()
        self.unreadable: Counter[str] = Counter()
        self.strangers = self.returns = self.restored = 0
        self._waiting: dict[str, float] = {}  # since when

    def __repr__(self) -> str:
        return f"<Tally in={self.taken_in.total()} waiting={self.waiting} {dict(self.ended)}>"

    @property
    def waiting(self) -> int:
        """How many requests wait, by this count."""
        return len(self._waiting)

    def lead_elsewhere(self) -> None:
        """Count what waits as gone on elsewhere: another runner begins with what is on record."""
        for one in tuple(self._waiting):
            self._end(one, End.LED_ELSEWHERE)

    # What a witness hears.

    def handled(self, fact: messages.Fact, effects: Sequence[messages.Effect]) -> None:
        """Count a fact and what is done about it."""
        try:
            self._count(fact, effects)
        except Exception:  # noqa: BLE001 - a fault in counting must not become one of the agents
            _LOG.exception("%s was not counted", type(fact).__name__)

    def unread(self, platform: str) -> None:
        """Count an input that nobody could read."""
        self.unreadable[platform] += 1

    def refused(self, refusal: messages.Refusal) -> None:
        """Count a request that was turned away."""
        self.refusals[refusal] += 1

    def stranger(self) -> None:
        """Count somebody without the token."""
        self.strangers += 1

    def turned_away(self, why: TurnedAway) -> None:
        """Count a call of a desk elsewhere that was refused."""
        self.turned_away_for[why] += 1

    # How it is counted.

    def _count(self, fact: messages.Fact, effects: Sequence[messages.Effect]) -> None:
        if isinstance(
            fact, messages.Restored
        ):  # which ends nothing, though cards are shown half-made
            for one in fact.waiting:
                self.restored += 1
                self._take_in(one.request, fact.now - one.waited)
            return
        if isinstance(fact, messages.Arrived):
            self._arrived(fact, effects)
        if isinstance(fact, messages.Delivered) and effects:
            self.receipts[fact.whole] += 1
        for effect in effects:
            match effect:
                case messages.Resolve(request_id, decided=Decided() as made):
                    self._answered(request_id, made, fact.now)
                case messages.Refuse(request_id, _, messages.Refusal.UNDECIDED):
                    self._end(request_id, End.EXPIRED)
                case messages.Show(card, before) if before is not None:
                    self._seen(
                        card, before, End.HOOK_LEFT if isinstance(fact, messages.Left) else None
                    )

    def _arrived(self, fact: messages.Arrived, effects: Sequence[messages.Effect]) -> None:
        """Take a request in, unless its ticket is known or it is turned away."""
        request = fact.request
        for effect in effects:
            match effect:
                case messages.Refuse(request.id, _, messages.Refusal.SUPERSEDED) | messages.Resolve(
                    request.id, confirm=True
                ):
                    self.returns += 1
                case messages.Resolve(request.id, decided=None):
                    self.taken_in[labels_of(request.event)] += 1
                    self.ended[End.OBSERVED] += 1
                case messages.Resolve(request.id, decided=Decided() as made):
                    self.taken_in[labels_of(request.event)] += 1
                    self._decide(made)
                case messages.Show(Card(requests=requests, state=State.WAITING)):
                    if request.id not in self._waiting and request.id in (r.id for r in requests):
                        self._take_in(request, fact.now)

    def _take_in(self, request: Request, now: float) -> None:
        self.taken_in[labels_of(request.event)] += 1
        self._waiting[request.id] = now

    def _answered(self, request_id: str, made: Decided, now: float) -> None:
        """Count the end of a request that waited; one answered as it came is counted already."""
        if (since := self._waiting.pop(request_id, None)) is None:
            return
        if _BY[type(made.by)] is By.OPERATOR:
            self._waited(now - since)
        self._decide(made)

    def _decide(self, made: Decided) -> None:
        if isinstance(made.by, actor.Nobody):
            self.ended[_end_of(made.by.why)] += 1
            return
        self.ended[End.DECIDED] += 1
        self.decisions[_BY[type(made.by)], made.decision.verdict.value] += 1
        if isinstance(made.by, actor.Operator):
            self.roles[made.by.role or HERE, made.decision.verdict.value] += 1

    def _seen(self, card: Card, before: Card, end: End | None) -> None:
        """Count the end of whatever was on a card and is not any more, without an answer."""
        waits = card.state is State.WAITING
        there = {leg.id for leg in card.requests} if waits else set()
        for leg in before.requests:
            if leg.id not in there:
                self._end(leg.id, end or _end_of(card.end))

    def _end(self, request_id: str, end: End) -> None:
        if self._waiting.pop(request_id, None) is not None:
            self.ended[end] += 1
