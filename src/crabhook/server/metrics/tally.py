"""Counts requests: each request taken in either waits, or has ended in exactly one way.

That is true at any moment, also after lost connections, merged cards and a killed server. Names
outside our tables are counted as "other", so that no agent can make labels.
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
HERE = "here"  # the role of the operator at the server's own terminal


class End(StrEnum):
    """How a request ended."""

    DECIDED = "decided"
    OBSERVED = "observed"
    EXPIRED = "expired"
    HOOK_LEFT = "hook-left"
    ANSWERED_AT_AGENT = "answered-at-agent"
    AWAY = "away"
    OPERATOR_LEFT = "operator-left"
    SERVER_STOPPED = "server-stopped"
    NEVER_CAME_BACK = "never-came-back"
    LED_ELSEWHERE = "led-elsewhere"  # it waits on at the server that leads now
    UNDECIDED = "undecided"  # no opinion, for another reason


class TurnedAway(StrEnum):
    """Why the server refuses a call of a desk elsewhere."""

    TEAM = "team"  # the team's file cannot be used, so no desk elsewhere may do anything
    CERTIFICATE = "certificate"  # of no device in the team, or of a removed one
    RIGHTS = "rights"  # the person's role or scope, or the key, does not allow the call
    ROOM = "room"  # one device, or one address, has too many open calls


class Pushed(StrEnum):
    """What became of a message to a phone."""

    ACCEPTED = "accepted"  # the push service will bring it
    GONE = "gone"  # the phone takes no messages any more
    LATER = "later"  # the service was in trouble, or wants fewer
    REFUSED = "refused"
    SHOWN = "shown"  # the phone reported that, later than the service accepted it


class Exported(StrEnum):
    """What became of a record that is sent to a receiver elsewhere."""

    TAKEN = "taken"
    REFUSED = "refused"  # the receiver will never take it
    REMOVED = "removed"  # retention removed it before the receiver took it


_ENDED: Mapping[actor.Ended, End] = {
    actor.Ended.HOOK_LEFT: End.HOOK_LEFT,
    actor.Ended.DESK_CLOSED: End.OPERATOR_LEFT,
    actor.Ended.SERVER_STOPPED: End.SERVER_STOPPED,
    actor.Ended.AWAY: End.AWAY,
    actor.Ended.NEVER_CAME_BACK: End.NEVER_CAME_BACK,
    actor.Ended.LEFT_BEFORE: End.UNDECIDED,
}
BY: Mapping[type[actor.Actor], str] = {
    actor.Operator: "operator",
    actor.RuleActor: "rule",
    actor.StandingOrder: "order",
    actor.Headless: "headless",
    actor.Nobody: OTHER,
}
"""Which kind of actor decided, in a word."""


def _end_of(why: actor.EndReason | None) -> End:
    if isinstance(why, actor.AnsweredAtAgent):
        return End.ANSWERED_AT_AGENT
    if isinstance(why, actor.TimeUp):
        return End.EXPIRED
    return _ENDED[why] if why else End.UNDECIDED


def labels_of(event: Event) -> tuple[str, str]:
    """Return an event's labels: its platform and its name."""
    try:
        events = PLATFORMS[event.platform].events
    except KeyError:
        return OTHER, OTHER
    return event.platform, event.name if event.name in events else OTHER


class Tally:
    """Counts what a runner does, from its first fact on, and changes nothing.

    `waited` gets, for each request that an operator decided, the seconds that it waited.
    """

    def __init__(self, waited: Callable[[float], object] = lambda _seconds: None) -> None:
        self._waited = waited
        self.taken_in: Counter[tuple[str, str]] = Counter()
        self.ended: Counter[End] = Counter()
        self.decisions: Counter[tuple[str, str]] = Counter()
        self.roles: Counter[tuple[str, str]] = Counter()
        self.turned_away_for: Counter[TurnedAway] = Counter()
        self.pushes: Counter[Pushed] = Counter()
        self.exports: Counter[Exported] = Counter()
        self.refusals: Counter[messages.Refusal] = Counter()
        self.receipts: Counter[bool] = Counter()
        self.unreadable: Counter[str] = Counter()
        self.strangers = self.returns = self.restored = self.listeners = 0
        self._waiting: dict[str, float] = {}  # the start of the wait, by request id

    @property
    def waiting(self) -> int:
        """The number of waiting requests."""
        return len(self._waiting)

    def lead_elsewhere(self) -> None:
        """Count what waits as led elsewhere: the next runner begins with what is on record."""
        for request in tuple(self._waiting):
            self._end(request, End.LED_ELSEWHERE)

    def handled(self, fact: messages.Fact, effects: Sequence[messages.Effect]) -> None:
        """Count a fact and its effects."""
        try:
            self._count(fact, effects)
        except Exception:  # noqa: BLE001 - a fault in counting must not stop a request
            _LOG.exception("%s was not counted", type(fact).__name__)

    def unread(self, platform: str) -> None:
        """Count an unreadable input."""
        self.unreadable[platform] += 1

    def refused(self, refusal: messages.Refusal) -> None:
        """Count a refused request."""
        self.refusals[refusal] += 1

    def stranger(self) -> None:
        """Count a client without the token."""
        self.strangers += 1

    def opened_anew(self) -> None:
        """Count a listener that was opened again, since it did not answer."""
        self.listeners += 1

    def turned_away(self, why: TurnedAway) -> None:
        """Count a refused call of a desk elsewhere."""
        self.turned_away_for[why] += 1

    def pushed(self, what: Pushed) -> None:
        """Count a message to a phone, or a phone's report."""
        self.pushes[what] += 1

    def exported(self, fate: Exported, records: int) -> None:
        """Count records that are sent to a receiver elsewhere."""
        self.exports[fate] += records

    def _count(self, fact: messages.Fact, effects: Sequence[messages.Effect]) -> None:
        if isinstance(fact, messages.Restored):  # it ends nothing, though it shows partial cards
            for waiting in fact.waiting:
                self.restored += 1
                self._take_in(waiting.request, fact.now - waiting.waited)
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
        """Count a new request, unless its ticket is known or the broker refused it."""
        request = fact.request
        for effect in effects:
            match effect:
                case messages.Refuse(request.id, _, messages.Refusal.SUPERSEDED) | messages.Resolve(
                    request.id, again=True
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
        """Count the end of a waiting request; `_arrived` counts what was answered at once."""
        if (since := self._waiting.pop(request_id, None)) is None:
            return
        if isinstance(made.by, actor.Operator):
            self._waited(now - since)
        self._decide(made)

    def _decide(self, made: Decided) -> None:
        if isinstance(made.by, actor.Nobody):
            self.ended[_end_of(made.by.why)] += 1
            return
        self.ended[End.DECIDED] += 1
        self.decisions[BY[type(made.by)], made.decision.verdict] += 1
        if isinstance(made.by, actor.Operator):
            self.roles[made.by.role or HERE, made.decision.verdict] += 1

    def _seen(self, card: Card, before: Card, end: End | None) -> None:
        """Count the end of each leg that left a card without an answer."""
        waits = card.state is State.WAITING and not card.went_on
        there = {leg.id for leg in card.requests} if waits else set()
        for leg in before.requests:
            if leg.id not in there:
                self._end(leg.id, End.EXPIRED if card.went_on else end or _end_of(card.end))

    def _end(self, request_id: str, end: End) -> None:
        if self._waiting.pop(request_id, None) is not None:
            self.ended[end] += 1
