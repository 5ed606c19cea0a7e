"""Whatever happens, in whatever order: the three promises hold.

The machine plays agents, hooks that die and come back, thieves, a clock and
an operator. It knows which call every hook truly asks about, as the broker
cannot: a PermissionRequest carries no id.
"""

from dataclasses import dataclass, field, fields, replace

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule

from crabhook.broker.broker import Broker
from crabhook.broker.cards import TooLateError
from crabhook.broker.messages import (
    Answered,
    Arrived,
    Closing,
    Commanded,
    Delivered,
    Effect,
    Fact,
    FeedLine,
    Left,
    Refuse,
    Resolve,
    Restored,
    RestoredAnswer,
    RestoredDecision,
    RestoredRequest,
    Show,
    TimePassed,
    WakeAt,
)
from crabhook.broker.pending import ANSWER_KEPT_FOR
from crabhook.broker.recent import ASKED_AGAIN_WITHIN
from crabhook.broker.restoring import COME_BACK_WITHIN
from crabhook.desk.commands import EndOrders, Extend, GiveOrder, Snooze
from crabhook.model.actor import OWNER
from crabhook.model.card import Card, Leg, Request, State
from crabhook.model.decision import Decision, Reply, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.order import OF_A_CALL, Order, OrderKind
from crabhook.platforms import PLATFORMS
from tests.support.examples import examples
from tests.support.playbook import ALLOW, ASK, DENY, PASS, asking, bash, done, is_allow, prompt

NOTED = Decision(Verdict.ALLOW, note="mind the gap")
CHANGED = Decision(Verdict.ALLOW, updated_input={"command": "ls -l"})
GO_ON = Decision(Verdict.KEEP_GOING, reason="there is more to do")
DECISIONS = [ALLOW, ALLOW, NOTED, CHANGED, DENY, ASK, PASS, GO_ON]

COMMANDS = st.sampled_from(["ls", "ls", "ls -l"])
SESSIONS = st.sampled_from(["s", "s", "t"])
AGENTS = st.sampled_from(["", "sub"])
TIMES = st.sampled_from([0.5, 5.0, 40.0, 700.0])
# What lets a call run once is the answer to a card, and no order that is given.
KINDS = st.sampled_from([kind for kind in OrderKind if kind not in OF_A_CALL])
HELD = "Stop"  # the event that orders are about


@dataclass(eq=False)
class Call:
    """A call of a tool as its agent knows it."""

    number: int
    session: str
    agent: str
    command: str
    asked: list[Request] = field(default_factory=list)
    answered_at: float | None = None  # when its PreToolUse was over
    prompted: bool = False
    over: bool = False

    @property
    def use_id(self) -> str:
        return f"t{self.number}"


def with_secret(leg: Leg) -> Request:
    """Return a leg as its record keeps it: with its ticket's secret."""
    told = {one.name: getattr(leg, one.name) for one in fields(leg)}
    return Request(**told, secret=f"secret of {leg.id}")


class Histories(RuleBasedStateMachine):
    """Everything that can happen to one broker."""

    calls = Bundle("calls")

    def __init__(self) -> None:
        super().__init__()
        self.broker = Broker(PLATFORMS)
        self.now = 0.0
        self.connections: dict[str, int] = {}
        self.open: set[tuple[str, int]] = set()  # connections that wait for their answer
        self.call_of: dict[str, Call] = {}
        self.allowed: set[Call] = set()
        self.under_an_order: set[str] = set()  # tickets that came while everything was allowed
        self.ended: dict[int, Card] = {}
        self.shown: dict[int, Card] = {}  # by this server, as they were last
        self.tickets = 0
        self.made: list[Call] = []
        self.was_killed = False
        self.given: dict[str, tuple[Reply, float]] = {}  # answers, as the record would keep them

    # Agents and their hooks.

    @rule(target=calls, session=SESSIONS, agent=AGENTS, command=COMMANDS)
    def a_model_calls_a_tool(self, session: str, agent: str, command: str) -> Call:
        call = Call(len(self.made) + 1, session, agent, command)
        self.made.append(call)
        request = bash(
            self._ticket(call), command, call.use_id, session=session, agent=agent, wait=600
        )
        self._ask(call, request)
        return call

    @rule(call=calls, wait=TIMES)
    def the_agent_prompts(self, call: Call, wait: float) -> None:
        since = None if call.answered_at is None else self.now - call.answered_at
        if call.over or call.prompted or since is None or since > ASKED_AGAIN_WITHIN:
            return
        call.prompted = True
        how = {"session": call.session, "agent": call.agent, "wait": wait}
        self._ask(call, prompt(self._ticket(call), call.command, **how))

    @rule(call=calls, leg=st.integers(0, 3))
    def a_hook_comes_back(self, call: Call, leg: int) -> None:
        if leg < len(call.asked) and not call.over:
            self._ask(None, call.asked[leg])

    @rule(call=calls)
    def a_thief_shows_another_secret(self, call: Call) -> None:
        stolen = replace(call.asked[0], secret="guess")
        known = any(ticket == stolen.id for ticket, _ in self.open)
        effects = self._ask(None, stolen)
        if known:
            assert any(isinstance(effect, Refuse) for effect in effects)

    @rule(call=calls, leg=st.integers(0, 3), back=st.integers(0, 1))
    def a_hook_leaves(self, call: Call, leg: int, back: int) -> None:
        if leg >= len(call.asked):
            return
        ticket = call.asked[leg].id
        attempt = self.connections[ticket] - back
        self.open.discard((ticket, attempt))
        self._tell(Left(ticket, attempt, self.now))

    @rule(
        call=calls, event=st.sampled_from(["PostToolUse", "PostToolUseFailure", "PermissionDenied"])
    )
    def a_call_is_over(self, call: Call, event: str) -> None:
        how = {"session": call.session, "agent": call.agent, "event": event}
        call.over = True
        self._ask(None, done(self._ticket(call), call.command, call.use_id, **how))

    @rule(
        session=SESSIONS,
        agent=AGENTS,
        event=st.sampled_from(["Stop", "PostToolBatch", "Notification", "SessionEnd"]),
    )
    def an_agent_goes_on(self, session: str, agent: str, event: str) -> None:
        for call in self.made:
            same = call.agent == agent or event == "SessionEnd"
            if call.session == session and same and event != "Notification":
                call.over = True
        self._ask(None, asking(self._ticket(None), event, session=session, agent=agent))

    # The operator, the clock, the receipts.

    @rule(number=st.integers(1, 40), decision=st.sampled_from(DECISIONS))
    def the_operator_answers(self, number: int, decision: Decision) -> None:
        before = self.broker.card(number)
        try:
            self._answer(number, decision)
        except TooLateError:
            assert before is None or before.state is not State.WAITING
            assert self.broker.card(number) is before
            return
        except DecisionError:
            assert self.broker.card(number) is before
        assert before is not None

    @precondition(lambda self: self.broker.waiting())
    @rule(place=st.integers(0, 20), decision=st.sampled_from(DECISIONS))
    def the_operator_answers_one_that_waits(self, place: int, decision: Decision) -> None:
        waiting = self.broker.waiting()
        card = waiting[place % len(waiting)]
        try:
            self._answer(card.number, decision)
        except DecisionError:  # its event cannot carry it
            assert self.broker.card(card.number) is card

    def _answer(self, number: int, decision: Decision) -> None:
        """Decide a card, or none; the rules, asked about what is changed, say nothing."""
        changed = self.broker.changed(number, decision) if self.broker.card(number) else {}
        rulings = dict.fromkeys(changed)
        self._tell(Answered(number, decision, OWNER, self.now, rulings=rulings))

    @rule(seconds=TIMES)
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self._tell(TimePassed(self.now))

    @rule(call=calls, whole=st.booleans())
    def a_receipt_comes(self, call: Call, whole: bool) -> None:
        self._tell(Delivered(call.asked[-1].id, whole, self.now))

    # Standing orders, and more time.

    @rule(kind=KINDS, session=SESSIONS, times=st.sampled_from([None, 1, 3]), lasts=TIMES)
    def the_operator_orders(
        self, kind: OrderKind, session: str, times: int | None, lasts: float
    ) -> None:
        named = HELD if kind in (OrderKind.HOLD, OrderKind.KEEP_GOING) else ""
        whose = "" if kind is OrderKind.AWAY else session
        self._tell(
            Commanded(
                GiveOrder(Order(kind, named, whose, "", self.now + lasts, times)), OWNER, self.now
            )
        )

    @rule(kind=KINDS)
    def the_operator_revokes(self, kind: OrderKind) -> None:
        stood = frozenset(order.id for order in self.broker.orders() if order.kind is kind)
        try:
            self._tell(Commanded(EndOrders(stood), OWNER, self.now))
        except DecisionError:
            assert not stood
        assert all(order.kind is not kind for order in self.broker.orders())

    @rule(number=st.integers(1, 40), by=TIMES)
    def a_card_gets_more_time(self, number: int, by: float) -> None:
        before = self.broker.card(number)
        try:
            self._tell(Commanded(Extend(number, by), OWNER, self.now))
        except (TooLateError, DecisionError):
            assert self.broker.card(number) is before

    @rule(number=st.integers(1, 40), by=TIMES)
    def a_card_is_put_aside(self, number: int, by: float) -> None:
        before = self.broker.card(number)
        try:
            self._tell(Commanded(Snooze(number, by), OWNER, self.now))
        except TooLateError:
            assert before is None or before.state is not State.WAITING

    # The server is killed, and begins again with what its record kept.

    @rule(back=st.booleans())
    def the_server_is_killed(self, back: bool) -> None:
        waiting = tuple(
            RestoredRequest(card.number, with_secret(leg), self.now - card.asked_at)
            for card in self.broker.waiting()
            for leg in card.requests
        )
        answers = tuple(
            RestoredAnswer(ticket, f"secret of {ticket}", reply)
            for ticket, reply in self._given().items()
        )
        decided = tuple(
            RestoredDecision(card.number, with_secret(leg), card.decided, card.delivered)
            for card in self.ended.values()
            for leg in card.requests
            if card.decided is not None and leg.id in self._given()
        )
        self.broker, self.was_killed = Broker(PLATFORMS), True
        self.shown.clear()
        self.open = {(one.request.id, 0) for one in waiting}  # each waits for its hook to come back
        self.connections = dict.fromkeys(self.connections, 0)
        last = max([one.number for one in waiting] + list(self.ended), default=0)
        self._tell(Restored(waiting, answers, decided, last, self.now))
        for one in decided:
            card, before = self.broker.card(one.number), self.ended[one.number]
            assert card is not None
            assert (card.state, card.decided) == (before.state, before.decided)
            self.ended[one.number] = card  # its times are those of the new server
        for leg in (one.request for one in waiting) if back else ():
            self._ask(None, replace(leg, wait_until=leg.wait_until - self.now))
        if not back:
            self.now += COME_BACK_WITHIN
            self._tell(TimePassed(self.now))
            assert not self.broker.waiting()
            self.open.clear()  # nobody was there to be told

    # The laws.

    @invariant()
    def nothing_waits_while_the_operator_is_away(self) -> None:
        if self._stands(OrderKind.AWAY):
            assert not self.broker.waiting()

    @invariant()
    def every_card_is_about_one_call(self) -> None:
        for card in self.broker.waiting():
            calls = {self.call_of.get(leg.id) for leg in card.requests}
            if self.was_killed:  # what was settled was forgotten: twins may be taken for one
                calls = {call and (call.session, call.agent, call.command) for call in calls}
            assert len(calls) == 1

    @invariant()
    def whoever_waits_is_on_a_card(self) -> None:
        assert self._legs() == {ticket for ticket, _ in self.open}

    def teardown(self) -> None:
        self._tell(Closing(self.now))
        assert not self.open
        assert not self.broker.waiting()

    # How facts are told and effects judged.

    def _ticket(self, call: Call | None) -> str:
        self.tickets += 1
        ticket = f"r{self.tickets}"
        if call:
            self.call_of[ticket] = call
        return ticket

    def _ask(self, call: Call | None, request: Request) -> list[Effect]:
        """Ask under the request's ticket; `call` is whose leg it is, if it is a new one."""
        if call:
            call.asked.append(request)
        if self._stands(OrderKind.ALLOW_ALL, request.event.session):
            self.under_an_order.add(request.id)
        attempt = self.connections[request.id] = self.connections.get(request.id, 0) + 1
        self.open.add((request.id, attempt))
        timed = replace(request, wait_until=self.now + request.wait_until)
        fact = Arrived(timed, None, attempt, self.now)
        foreseen, waited = self.broker.comes_to_a_card(fact), self._legs()
        effects = self._tell(fact)
        if request.id in self._legs() - waited:
            assert foreseen, "a card that nobody looked anything up for"
        elif foreseen:  # the same call was decided a moment ago, or there is no room
            assert any(isinstance(effect, Resolve | Refuse) for effect in effects)
        return effects

    def _legs(self) -> set[str]:
        return {leg.id for card in self.broker.waiting() for leg in card.requests}

    def _tell(self, fact: Fact) -> list[Effect]:
        if isinstance(fact, Answered):
            self._note_what_is_allowed(fact)
        effects = self.broker.handle(fact)
        for effect in effects:
            self._judge(effect)
        for call in self.made:
            if any(ticket == call.asked[0].id for ticket, _ in self.open):
                call.answered_at = None
            elif call.answered_at is None:
                call.answered_at = self.now
        return effects

    def _given(self) -> dict[str, Reply]:
        """The answers for hooks that may still come back."""
        kept = self.given.items()
        return {name: reply for name, (reply, at) in kept if self.now - at <= ANSWER_KEPT_FOR}

    def _stands(self, kind: OrderKind, session: str = "") -> bool:
        return any(
            order.kind is kind and session in ("", order.session) and not order.over(self.now)
            for order in self.broker.orders()
        )

    def _note_what_is_allowed(self, fact: Answered) -> None:
        card = self.broker.card(fact.number)
        if card and card.state is State.WAITING and fact.decision.verdict is Verdict.ALLOW:
            self.allowed |= {
                self.call_of[leg.id] for leg in card.requests if leg.id in self.call_of
            }

    def _is_allowed(self, call: Call | None) -> bool:
        """Whether somebody allowed the call; after a kill, its twin: the very same of that agent."""
        if call is None or call in self.allowed:
            return call is not None
        return self.was_killed and any(
            (call.session, call.agent, call.command) == (twin.session, twin.agent, twin.command)
            for twin in self.allowed
        )

    def _judge(self, effect: Effect) -> None:
        match effect:
            case Resolve(ticket, attempt, _, reply, decided=decided):
                self.open.remove((ticket, attempt))  # KeyError: answered twice, or to nobody
                may = self._is_allowed(self.call_of.get(ticket)) or ticket in self.under_an_order
                assert not is_allow(reply) or may
                if decided is not None:
                    assert ticket not in self._given()  # decided exactly once, kills and all
                    self.given[ticket] = (reply, self.now)
            case Refuse(ticket, attempt):
                self.open.remove((ticket, attempt))
            case Show(card, as_it_was):
                assert as_it_was == self.shown.get(card.number, as_it_was)
                self.shown[card.number] = card
                before = self.ended.get(card.number)
                assert before is None or card.revision > before.revision
                assert before is None or _as_before(card, before) == before
                if card.state is not State.WAITING:
                    self.ended[card.number] = card
            case WakeAt(at):
                assert at > self.now
            case FeedLine():
                pass


def _as_before(card: Card, before: Card) -> Card:
    """The card without what may come after its end: its answer's fate, and what is found out."""
    found_out = replace(card, delivered=before.delivered, alarms=before.alarms)
    return replace(found_out, revision=before.revision, grown=before.grown)


Histories.TestCase.settings = examples(100, stateful_step_count=40)
TestHistories = Histories.TestCase
