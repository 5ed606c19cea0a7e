"""What the rules and the standing orders make of an event: it waits, is decided, or is observed.

Every order is shown while it stands, and ends by itself. It ends by its time, by its count, with
its session, or with a server whose record no other server shares. A halt outlives every server,
since its end would let a stopped agent go on; it ends with the session's next prompt. An order that
lets a call run once outlives every server, too: its use is on record before the call is allowed. A
session may also end while no server runs, and nobody hears of that. So an order ends whose session
was not heard of for days.

Claude Code ends the turn after eight blocks of Stop in a row, against any hook (hook protocol,
section 7). A ninth keep-going would be shown and have no effect.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count

from crabhook.datatypes import Bounded, frozen
from crabhook.model.actor import Actor, Ended, Nobody, OrderKind, StandingOrder
from crabhook.model.ballot import Terms
from crabhook.model.card import NO_REASON, Because, Brought, Stance
from crabhook.model.decision import Beside, Choices, Decided, Decision, Verdict, no_opinion
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.order import CAP, LASTING, OF_A_CALL, UNHEARD_DAYS, Order, Standing
from crabhook.model.wording import AWAY, HALTED, HALTED_AGENT
from crabhook.platforms.event_table import Held, Phase
from crabhook.platforms.interface import Platform
from crabhook.policy.rule import PLAN_FILE, Rule, RuleVerdict, Ruling

_VERDICTS: Mapping[RuleVerdict, Verdict] = {
    RuleVerdict.ALLOW: Verdict.ALLOW,
    RuleVerdict.DENY: Verdict.DENY,
    RuleVerdict.ASK_AGENTS_USER: Verdict.ASK,
    RuleVerdict.PASS: Verdict.PASS,
}
_PLAIN = {verdict: Decision(verdict) for verdict in _VERDICTS.values()}  # made once

_TOLD, _TEXT = 20, 400  # parts of a call, and letters of each, in an objection

_UNDECIDED = Because(
    Brought.HOOK,
    "no rule covers it",
    full="its hook is a gate, and no rule covers it",
)


@frozen
class Course:
    """What becomes of an event by rules and orders: it waits, is decided, or is observed.

    `reason`: why it waits, for its card, or the words of the rules that decide it.
    `agents_own`: it is passed since only the agent can judge it, and no order allows it. `by` is
    the order that is used once if the course is followed.
    """

    waits: bool = False
    decided: Decided | None = None
    reason: Because = NO_REASON
    agents_own: bool = False
    by: Standing | None = None

    @property
    def denies(self) -> bool:
        """Whether the event is refused, before any order or earlier decision."""
        return self.decided is not None and self.decided.decision.verdict is Verdict.DENY

    @property
    def observes(self) -> bool:
        """Whether neither rules nor orders speak of the event."""
        return not self.waits and self.decided is None

    @property
    def leaves_it(self) -> bool:
        """Whether the rules leave the event to the agent: they say nothing, or to pass it."""
        passed = self.decided is not None and self.decided.decision.verdict is Verdict.PASS
        return self.observes or (passed and not self.agents_own)

    def where(self, *, can_ask: bool) -> "Course":
        """Return the course for an event on which the agent's own user can be asked, or not.

        A rule wants a person to decide. Where the agent cannot ask its own user, the operator
        decides, since an agent without an answer may just go on.
        """
        asked = self.decided is not None and self.decided.decision.verdict is Verdict.ASK
        if not asked or can_ask:
            return self
        addition = ", and this agent cannot be told to ask its own user"
        reason = self.reason
        words, full = f"{reason.words}{addition}", f"{reason.in_full}{addition}"
        return Course(waits=True, reason=replace(reason, words=words, full=full))


def against(rulings: Iterable[Ruling | None]) -> tuple[str, ...]:
    """Return the objections of denials and protected places, a sentence each, without repeats."""
    return tuple(
        dict.fromkeys(objection for ruling in rulings for objection in _objections(ruling))
    )


def _objections(ruling: Ruling | None) -> Iterator[str]:
    if ruling is None or not _objects(ruling.verdict, ruling.rule):
        return
    against = [part for part in ruling.parts if _objects(part.verdict, part.rule)][:_TOLD]
    yield from [f"{part.why}: {part.text[:_TEXT]}" for part in against] or [ruling.why]


def _objects(verdict: RuleVerdict | None, rule: Rule | None) -> bool:
    """Whether the verdict denies, or asks a person without a rule of the owner's."""
    return verdict is RuleVerdict.DENY or (verdict is RuleVerdict.ASK_OPERATOR and rule is None)


def from_ruling(ruling: Ruling | None) -> Course:
    """Return what a ruling means for the event it is about."""
    if ruling is None or ruling.verdict is None:
        return Course()
    verdict = _VERDICTS.get(ruling.verdict)
    because = ruling.because or Because(Brought.UNSURE, ruling.why)
    reason = replace(because, full=ruling.why)
    if verdict is None:
        return Course(waits=True, reason=reason)
    decision = _PLAIN[verdict]
    if verdict is Verdict.DENY:
        note = ruling.rule.note if ruling.rule else ""
        decision = Decision(verdict, note or f"the operator's rules deny this: {ruling.why}")
    own = ruling.rule is PLAN_FILE
    decided = Decided(decision, ruling.by)
    return Course(decided=decided, reason=reason, agents_own=own)


_AGENTS_KEPT = 4096


class KeepGoingCounter:
    """Counts keep-goings in a row, by agent; an agent that stops by itself starts at zero."""

    def __init__(self) -> None:
        self._counts: Bounded[tuple[str, str, str, str], int] = Bounded(_AGENTS_KEPT)

    def in_a_row(self, event: Event) -> int:
        """Return how often the agent was kept going since it last began by itself."""
        if event.fields.get("stop_hook_active") is not True:
            self._counts.pop(event.agent_key, None)
        return self._counts.get(event.agent_key, 0)

    def count(self, event: Event, decision: Decision) -> None:
        """Count a decision; raise DecisionError where the agent would no longer follow it."""
        if decision.verdict is not Verdict.KEEP_GOING:
            return
        row = self.in_a_row(event)
        if row >= CAP:
            raise DecisionError(
                f"it was kept going {CAP} times in a row. The agent stops now anyway"
            )
        self._counts[event.agent_key] = row + 1


MAX_ORDERS = 200
ONLY_BY_A_CARD = "only the card of a call rules on that call if it comes again"
_HEARD_EVERY = 3600.0  # seconds; each time is a change of the orders, and on record
_OF_A_SESSION = (OrderKind.ALLOW_ALL, OrderKind.HOLD_ALL, OrderKind.HALT)


def _left_alone(course: Course, *, can_ask: bool, is_part: bool = False) -> Course:
    """Leave an event to the agent's own user, since the operator is away.

    Where a rule wants a person to decide, the answer is `ask`: after silence the agent's permission
    mode might let the call run. A part of a call runs after silence, and nobody at the agent can be
    asked about one: there the answer is a denial.
    """
    why = course.reason.in_full
    if course.waits and is_part:
        reason = f"{AWAY}, and a person must be asked, which this cannot wait for: {why}"
        return Course(decided=Decided(Decision(Verdict.DENY, reason=reason), Nobody(Ended.AWAY)))
    if not (course.waits and can_ask):
        return Course(decided=no_opinion(Ended.AWAY))
    reason = f"{AWAY}, and a person must be asked: {why}"
    return Course(decided=Decided(Decision(Verdict.ASK, reason=reason), Nobody(Ended.AWAY)))


def halted(order: Standing, choices: Choices) -> Decided:
    """Return the denial of a halted session's call; it also ends the turn where the event can."""
    what, then = HALTED, "wait for what its user says next"
    if order.agent:
        what, then = HALTED_AGENT, "say what you have done so far"
    reason = f"{what}: {order.words}. Make no more calls: {then}."
    halt = order.words if Beside.HALT in choices.beside else ""
    decision = Decision(Verdict.DENY, reason=reason, halt=halt)
    return Decided(decision, StandingOrder(order.id, order.kind))


def _held_by(order: Standing) -> Course:
    words = f"your standing order: {order}"
    return Course(waits=True, reason=Because(Brought.ORDER, words, str(order)))


def _held_with_all(orders: Sequence[Standing]) -> Course | None:
    """Return the course by an order to hold all of the session, None without such an order."""
    return next((_held_by(order) for order in orders if order.kind is OrderKind.HOLD_ALL), None)


def _rule_of_a_question(
    course: Course, orders: Sequence[Standing], event: Event, platform: Platform
) -> Course | None:
    """Return the course of an event with a question, by rules and orders, if they have one."""
    if course.denies or course.waits:
        return course
    if held := _held_with_all(orders):
        return held
    if course.agents_own:
        return course
    for order in orders:
        if order.kind is OrderKind.ALLOW_ALL and not platform.asks(event):
            by = StandingOrder(order.id, order.kind)
            return Course(decided=Decided(Decision(Verdict.ALLOW), by))
    return None if course.decided is None else course


def came_by(event: Event, platform: Platform, stance: Stance) -> Because:
    """Return why an event waits without a rule or an order about it."""
    held = platform.held(event, stance)
    if held is Held.AFTERWARDS:
        return Because(Brought.AGENT, "the agent's own check refused it")
    if held in (Held.ON_REQUEST, Held.BY_RULE):
        by = "a standing order" if held is Held.ON_REQUEST else "a rule, or a standing order,"
        return Because(Brought.ORDER, f"{by} of yours held it")
    if stance is Stance.SUPERVISOR and event.tool is None and not platform.asks(event):
        return Because(Brought.HOOK, "its hook is a supervisor: every end of a turn comes to you")
    if platform.asks(event) or event.name == "PermissionRequest" or stance is Stance.COMPANION:
        return Because(Brought.AGENT, "the agent itself asks")
    return _UNDECIDED


def asked_by(reason: Because, terms: tuple[Terms, ...]) -> str:
    """Return which question brought a call to a person; another rule asks another question."""
    return sha256(repr((reason.in_full, terms)).encode()).hexdigest()


def _firsts(platform: Platform) -> Collection[Phase]:
    """Return the phases of the events that may be the first about a call."""
    return (Phase.BEFORE, Phase.ASKING) if platform.asks_first else (Phase.BEFORE,)


def _of_call(kind: OrderKind, orders: Iterable[Standing], event: Event) -> Standing | None:
    """Return the order of this kind about the very call of the event, if one stands."""
    return next((order for order in orders if order.kind is kind and order.rules_on(event)), None)


class Orders:
    """The standing orders."""

    def __init__(self) -> None:
        self._orders: tuple[Standing, ...] = ()
        self._halts: tuple[Standing, ...] = ()
        self._halted_sessions: tuple[Standing, ...] = ()
        self._lasting: tuple[Standing, ...] = ()
        self._numbers = count(1)

    def __repr__(self) -> str:
        return f"<Orders {[str(order) for order in self._orders]}>"

    def standing(self) -> tuple[Standing, ...]:
        """Return the orders that stand, the oldest first."""
        return self._orders

    def _stand(self, orders: Iterable[Standing]) -> None:
        """Replace the orders, and with them those that halt, and those that outlive a server."""
        self._orders = tuple(orders)
        self._halts = tuple(order for order in self._orders if order.kind is OrderKind.HALT)
        self._halted_sessions = tuple(order for order in self._halts if not order.agent)
        self._lasting = tuple(order for order in self._orders if order.kind in LASTING)

    def give(self, order: Order, by: Actor, heard: float) -> Standing:
        """Take an order; it replaces an order of the same kind about the same thing.

        `heard` is when its session, if it is about one, was last heard of.
        """
        if order.kind in _OF_A_SESSION and not order.session:
            raise DecisionError(f"{order.kind} which session?")
        if order.kind is OrderKind.ALLOW_ALL and order.until is None:
            raise DecisionError("an allow of everything needs an end: say for how long")
        once = order.times == 1 or order.kind is OrderKind.DENY_AGAIN
        if order.kind in OF_A_CALL and not (order.call and order.until is not None and once):
            raise DecisionError(ONLY_BY_A_CARD)
        if order.times is not None and not 0 < order.times <= CAP:
            raise DecisionError(f"times must be 1 to {CAP}")
        others = [old for old in self._orders if old.about != order.about]
        if len(others) >= MAX_ORDERS and order.kind is not OrderKind.HALT:
            raise DecisionError(f"{MAX_ORDERS} orders stand already: end one first")
        standing = Standing.of(order, next(self._numbers), by, heard)
        self._stand([*others, standing])
        return standing

    def revoke(self, matches: Callable[[Standing], bool]) -> list[Standing]:
        """End the orders that match; return them."""
        ended = [order for order in self._orders if matches(order)]
        if ended:
            self._stand(order for order in self._orders if order not in ended)
        return ended

    def expire(self, now: float) -> list[tuple[Standing, str]]:
        """End the orders whose time is over, or whose session is; return each with its line."""
        ended = self.revoke(lambda order: order.over(now))
        unheard = self.revoke(lambda order: order.ends_unheard <= now)
        why = f"ended by itself, since its session was not heard of for {UNHEARD_DAYS} days"
        return [
            *((order, f"ended by itself: {order}") for order in ended),
            *((order, f"{why}: {order}") for order in unheard),
        ]

    def hear(self, event: Event, now: float) -> float | None:
        """Put off the end of orders about a session that is heard of; return it, if it moved."""
        heard = [
            order
            for order in self._orders
            if order.session and order.is_of(event) and now - order.heard >= _HEARD_EVERY
        ]
        if not heard:
            return None
        same = (replace(order, heard=now) if order in heard else order for order in self._orders)
        self._stand(tuple(same))
        return min(order.ends_unheard for order in self._orders)

    def halt_of(self, event: Event) -> Standing | None:
        """Return the order that halts the event's session or subagent, if there is one."""
        return next((order for order in self._halts if order.halts(event)), None)

    def lasting(self) -> tuple[Standing, ...]:
        """Return the orders that outlive every server: those that halt, and those about a call."""
        return self._lasting

    def resume(self, event: Event) -> list[Standing]:
        """End the halt of a session after its user's prompt; return the ended orders."""
        return self.revoke(lambda order: order in self._halted_sessions and order.halts(event))

    def forget(self, event: Event) -> None:
        """End the orders about a session that has ended; rulings wait for it to be resumed."""
        self.revoke(lambda order: bool(order.session) and order.is_of(event) and not order.law)

    def forget_agent(self, event: Event) -> None:
        """End the halt of a subagent that has ended."""
        halts = [order for order in self._halts if order.agent]
        self.revoke(lambda order: order in halts and order.halts(event))

    def rule(
        self,
        event: Event,
        platform: Platform,
        stance: Stance,
        now: float,
        law: Ruling | None = None,
    ) -> Course:
        """Return what becomes of an event that arrives now; `law` is the ruling about it.

        Nothing changes: who follows the course counts the use of its order, see `use`.

        The order of precedence: a rule's denial, a rule's question, the operator's general orders,
        a rule's allow. An event that only rules hold is observed where no rule speaks of it. An
        order ALLOW ALL or AWAY is not about a call that nobody would be asked about. AWAY is not
        about a call that needs certain people either: others may be there.
        """
        held = platform.held(event, stance)
        if held is Held.NEVER:
            return Course()
        orders = [each for each in self._orders if each.speaks_of(event) and not each.over(now)]
        away = any(order.kind is OrderKind.AWAY for order in orders)
        if held in (Held.ON_REQUEST, Held.AFTERWARDS):
            if held is Held.ON_REQUEST:
                ruling = self._rule_on_request(event, orders)
            else:
                ruling = self._afterwards(event, platform, stance, orders, law)
            return Course() if away else ruling
        can_ask = platform.takes(event, Verdict.ASK)
        ruled = from_ruling(law).where(can_ask=can_ask)
        kept_going = None if away else self._keep_going(event, orders)
        denied = self._denied_before(ruled, orders, event, platform)
        terms = law.terms if law else ()
        once = denied or self._let_once(ruled, orders, event, platform, terms)
        if ordered := kept_going or once:
            return ordered
        if held is Held.BY_RULE and ruled.observes:
            return Course() if away else _held_with_all(orders) or Course()
        if away and not ruled.denies and not (law and law.terms):
            is_part = platform.phase(event) is Phase.PART
            return _left_alone(ruled, can_ask=can_ask, is_part=is_part)
        course = _rule_of_a_question(ruled, orders, event, platform)
        return course or Course(waits=True, reason=came_by(event, platform, stance))

    def _let_once(
        self,
        ruled: Course,
        orders: Sequence[Standing],
        event: Event,
        platform: Platform,
        terms: tuple[Terms, ...],
    ) -> Course | None:
        """Return the allow of a call that may run once, where no rule or order speaks against it.

        The allow is the person's who let it run. No event but the first about a call gets it: one
        use is one call. It answers a rule's question too, where that very question was answered.
        """
        if platform.phase(event) not in _firsts(platform):
            return None
        once = _of_call(OrderKind.LET_ONCE, orders, event)
        if once is None or _held_with_all(orders):
            return None
        answered = bool(once.law) and ruled.waits and once.law == asked_by(ruled.reason, terms)
        if not (ruled.leaves_it or (answered and ruled.reason.kind is Brought.RULE)):
            return None
        return Course(decided=Decided(Decision(Verdict.ALLOW), once.by), by=once)

    def _denied_before(
        self, ruled: Course, orders: Sequence[Standing], event: Event, platform: Platform
    ) -> Course | None:
        """Return the denial of a call that a person has denied after its agent had gone on."""
        if ruled.denies or platform.phase(event) not in (Phase.BEFORE, Phase.ASKING):
            return None
        order = _of_call(OrderKind.DENY_AGAIN, orders, event)
        if order is None:
            return None
        reason = f"the operator has denied this call, as {order.words}"
        return Course(decided=Decided(Decision(Verdict.DENY, reason=reason), order.by))

    def _afterwards(
        self,
        event: Event,
        platform: Platform,
        stance: Stance,
        orders: Sequence[Standing],
        law: Ruling | None,
    ) -> Course:
        """Return the course of a call that its agent's own check refused; its hook does not wait.

        It may run once already, as where two calls were the same: then the model is told to try
        again. Nobody is asked about what the rules deny, or about a question, which is nothing that
        can run.
        """
        if event.tool is None or platform.asks(event) or from_ruling(law).denies:
            return Course()
        if once := _of_call(OrderKind.LET_ONCE, orders, event):
            return Course(decided=Decided(Decision(Verdict.RETRY), once.by))
        return Course(waits=True, reason=came_by(event, platform, stance))

    def _rule_on_request(self, event: Event, orders: Sequence[Standing]) -> Course:
        """Return the course of an event that waits only by an order.

        An order to keep going comes before an order to hold the same event.
        """
        if ruling := _held_with_all(orders) or self._keep_going(event, orders):
            return ruling
        for order in orders:
            if order.name == event.name and order.kind is OrderKind.HOLD:
                return replace(_held_by(order), by=order)
        return Course()

    def _keep_going(self, event: Event, orders: Sequence[Standing]) -> Course | None:
        for order in orders:
            if order.name == event.name and order.kind is OrderKind.KEEP_GOING:
                by = StandingOrder(order.id, order.kind, order.times)
                decision = Decision(Verdict.KEEP_GOING, reason=order.words)
                return Course(decided=Decided(decision, by), by=order)
        return None

    def use(self, order: Standing) -> None:
        """Count one use of an order; the last use ends it."""
        if order.times is not None:
            self._change(replace(order, times=order.times - 1))

    def put_back(self, order: Standing) -> None:
        """Let an order stand again as it was before its last use."""
        self._stand(sorted((*self._orders, order), key=lambda each: each.id))

    def tell(self, order: Standing, note: int) -> None:
        """Keep the number of the note that tells a model of an order."""
        self._change(replace(order, note=note))

    def _change(self, changed: Standing) -> None:
        every = (changed if order.id == changed.id else order for order in self._orders)
        self._stand(order for order in every if order.times != 0)
