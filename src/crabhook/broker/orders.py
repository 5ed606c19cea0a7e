"""Standing orders: what the operator said once, for a while, about events still to come.

Every order is shown while it stands and ends by itself: by its time, by its
count, with its session, or with the server.  A halt alone outlives the server,
since its end would let an agent go on that was stopped; it ends with the
session's next prompt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from crabhook.broker.law import Judge, Said, no_law, said_by
from crabhook.broker.stops import CAP
from crabhook.model.decision import Decision, Verdict, no_opinion
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.request import Stance
from crabhook.platforms.interface import Held, Platform

MAX_ORDERS = 200
AWAY = "the operator is away"
HALTED = "the operator halted this session"


class Kind(StrEnum):
    """What an order is about."""

    HOLD = "hold"  # hold events that are otherwise only observed
    HOLD_ALL = "hold everything of"
    ALLOW_ALL = "allow everything of"
    KEEP_GOING = "keep going"
    AWAY = "away"
    HALT = "halt"  # deny every call of a session that was halted, until its next prompt


@dataclass(frozen=True, slots=True)
class Order:
    """One standing order.

    `name` is an event's; `session` and `project` (the last part of the
    working folder, or all of it) narrow it, empty for any; `until` is on the
    broker's clock, None for no end by time; `times` how often it still
    applies, None for always; `words` what a kept-going agent is told, why a
    session was halted, or where an order comes from that was not given at the
    desk itself.
    """

    kind: Kind
    name: str = ""
    session: str = ""
    project: str = ""
    until: float | None = None
    times: int | None = None
    words: str = ""

    def __str__(self) -> str:
        parts = [self.kind.value, self.name, self.session and f"session={self.session}"]
        parts += [self.project and f"project={self.project}"]
        parts += [f"times={self.times}" if self.times is not None else "", self.words]
        return " ".join(part for part in parts if part)

    @property
    def event(self) -> Event:
        """An event for the feed, since nothing an agent did is behind an order's news."""
        return Event(platform="", name="Desk", session=self.session)

    def over(self, now: float) -> bool:
        """Whether the order's time has come to its end."""
        return self.until is not None and self.until <= now

    def speaks_of(self, event: Event) -> bool:
        """Whether the order is about the event's session and project."""
        folder = event.cwd.rstrip("/")
        here = self.project in ("", folder, folder.rpartition("/")[2])
        return here and self.session in ("", event.session)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of an event by rules and orders: it waits, is decided, or is observed.

    `why` is what the rules say of it; `came` what else makes it wait.
    """

    waits: bool = False
    decision: Decision | None = None
    why: str = ""
    came: str = ""

    @property
    def denies(self) -> bool:
        """Whether the event is refused, even if the same call was allowed a moment ago."""
        return self.decision is not None and self.decision.verdict is Verdict.DENY


_LEFT_ALONE = Ruling(decision=no_opinion(AWAY))


def _to_the_agents_user(said: Said) -> Ruling:
    """A rule wants a person asked, and ours is away: with silence a mode might let the call run."""
    reason = f"{AWAY}, and a person is to be asked: {said.why}"
    return Ruling(decision=Decision(Verdict.ASK, reason=reason, by=no_opinion().by))


def halted(why: str) -> Decision:
    """Return the denial that every call of a halted session gets; `why` it was halted."""
    reason = f"{HALTED}: {why}. Make no more calls: wait for what its user says next."
    return Decision(Verdict.DENY, reason=reason, by=HALTED)


_ALLOWED = Ruling(decision=Decision(Verdict.ALLOW, by="allow everything of this session"))


def _held_by(orders: Sequence[Order], kind: Kind) -> Ruling:
    """Return that an order of this kind makes an event wait, and which, if one does."""
    told = next((str(order) for order in orders if order.kind is kind), "")
    return Ruling(waits=True, came=f"your standing order: {told}")


def came_by(event: Event, platform: Platform, stance: Stance) -> str:
    """Return why an event waits that no rule and no order speaks of."""
    held = platform.held(event, stance)
    if held in (Held.ON_REQUEST, Held.BY_RULE):
        by = "a standing order" if held is Held.ON_REQUEST else "a rule, or a standing order,"
        return f"{by} of yours held it"
    if stance is Stance.SUPERVISOR and event.tool is None and not platform.asks(event):
        return "its hook is a supervisor: every end of a turn comes to you"
    if platform.asks(event) or event.name == "PermissionRequest" or stance is Stance.COMPANION:
        return "the agent itself asks"
    return "its hook is a gate: every call comes to you that no rule decides"


class Orders:
    """The orders that stand."""

    def __init__(self) -> None:
        self._orders: list[Order] = []

    def __repr__(self) -> str:
        return f"<Orders {[str(order) for order in self._orders]}>"

    def standing(self) -> Sequence[Order]:
        """Return the orders that stand, the oldest first."""
        return tuple(self._orders)

    def give(self, order: Order) -> None:
        """Take an order; it takes the place of one of the same kind about the same."""
        if order.kind in (Kind.ALLOW_ALL, Kind.HOLD_ALL, Kind.HALT) and not order.session:
            raise DecisionError(f"{order.kind} which session?")
        if order.kind is Kind.ALLOW_ALL and order.until is None:
            raise DecisionError("an allow of everything needs an end: say for how long")
        if order.times is not None and not 0 < order.times <= CAP:
            raise DecisionError(f"times must be 1 to {CAP}")
        same = (order.kind, order.name, order.session, order.project)
        self._orders = [
            one for one in self._orders if (one.kind, one.name, one.session, one.project) != same
        ]
        if len(self._orders) >= MAX_ORDERS and order.kind is not Kind.HALT:
            raise DecisionError(f"{MAX_ORDERS} orders stand already: end one first")
        self._orders.append(order)

    def revoke(self, matches: Callable[[Order], bool]) -> list[Order]:
        """End the orders that match; return them."""
        ended = [order for order in self._orders if matches(order)]
        self._orders = [order for order in self._orders if order not in ended]
        return ended

    def expire(self, now: float) -> list[tuple[Event, str]]:
        """End what had a time; return a line of news for each."""
        ended = self.revoke(lambda order: order.over(now))
        return [(order.event, f"ended by itself: {order}") for order in ended]

    def halt_of(self, event: Event) -> Order | None:
        """Return the order by which the event's session is halted, if it is."""
        return next((one for one in self.halts() if one.session == event.session), None)

    def halts(self) -> Sequence[Order]:
        """Return which sessions are halted, the first of them first."""
        return tuple(order for order in self._orders if order.kind is Kind.HALT)

    def resume(self, event: Event) -> list[Order]:
        """End the halt of a session whose user has said how to go on; return what ended."""
        return self.revoke(lambda order: order.kind is Kind.HALT and order.session == event.session)

    def forget(self, event: Event) -> None:
        """End the orders about a session that has ended."""
        self.revoke(lambda order: bool(order.session) and order.session == event.session)

    def rule(
        self, event: Event, platform: Platform, stance: Stance, now: float, law: Judge = no_law
    ) -> Ruling:
        """Return what becomes of an event that has just arrived.

        A rule's denial comes before everything, its question before what the
        operator ordered in general, its allow after that.  An event that only
        rules hold is observed where none speaks of it: no blanket allow, and no
        absence, is about a call that nobody would be asked about.
        """
        held = platform.held(event, stance)
        if held is Held.NEVER:
            return Ruling()
        orders = [one for one in self._orders if one.speaks_of(event) and not one.over(now)]
        kinds = {order.kind for order in orders}
        if held is Held.ON_REQUEST:
            if Kind.HOLD_ALL in kinds and Kind.AWAY not in kinds:
                return _held_by(orders, Kind.HOLD_ALL)
            return Ruling() if Kind.AWAY in kinds else self._rule_on_request(event, orders)
        if Kind.AWAY not in kinds and (kept_going := self._keep_going(event, orders)):
            return kept_going
        verdicts = platform.choices(event).verdicts
        said = said_by(law(event)).where(verdicts)
        asks_its_user = Verdict.ASK in verdicts
        if held is Held.BY_RULE and said == Said():
            waits = Kind.HOLD_ALL in kinds and Kind.AWAY not in kinds
            return _held_by(orders, Kind.HOLD_ALL) if waits else Ruling()
        told = Ruling(waits=said.asks, decision=said.decision, why=said.why if said.asks else "")
        ways = (  # the first that holds
            (said.denies, told),
            (Kind.AWAY in kinds and said.asks and asks_its_user, _to_the_agents_user(said)),
            (Kind.AWAY in kinds, _LEFT_ALONE),
            (said.asks, told),
            (Kind.HOLD_ALL in kinds, _held_by(orders, Kind.HOLD_ALL)),
            (Kind.ALLOW_ALL in kinds and not platform.asks(event), _ALLOWED),
            (said.decision is not None, told),
        )
        here = Ruling(waits=True, came=came_by(event, platform, stance))
        return next((ruling for holds, ruling in ways if holds), here)

    def _rule_on_request(self, event: Event, orders: Sequence[Order]) -> Ruling:
        """Rule on an event that waits only when it was asked for.

        An agent that is to keep going is not held for the same event meanwhile.
        """
        if kept_going := self._keep_going(event, orders):
            return kept_going
        for order in orders:
            if order.name == event.name and order.kind is Kind.HOLD:
                self._use(order)
                return _held_by([order], Kind.HOLD)
        return Ruling()

    def _keep_going(self, event: Event, orders: Sequence[Order]) -> Ruling | None:
        for order in orders:
            if order.name == event.name and order.kind is Kind.KEEP_GOING:
                self._use(order)
                by = f"keep going, {order.times} times"
                return Ruling(decision=Decision(Verdict.KEEP_GOING, reason=order.words, by=by))
        return None

    def _use(self, order: Order) -> None:
        """Count one use of an order; the last one ends it."""
        if order.times is None:
            return
        at = self._orders.index(order)
        self._orders[at : at + 1] = (
            [replace(order, times=order.times - 1)] if order.times > 1 else []
        )
