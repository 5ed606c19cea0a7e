"""A yes to an undecided call lets one call run and no more, in each order of things that happen.

The broker is killed at any moment, and the next one begins from what the record would have.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from crabhook.broker.broker import Broker
from crabhook.broker.messages import Answered, Arrived, Left, Resolve, TimePassed
from crabhook.model.actor import OWNER
from crabhook.model.decision import Verdict
from crabhook.model.errors import CrabhookError
from crabhook.model.order import RULED_FOR
from crabhook.platforms import PLATFORMS
from crabhook.server.core.journal_mapper import JournalMapper, restored
from crabhook.server.core.persisted_orders import Steering
from crabhook.store.change import Change, Merged, Recovered
from tests.support.examples import examples
from tests.support.playbook import ALLOW, DENY, WAIT, asking, is_allow
from tests.unit.broker.test_undecided import gate

if TYPE_CHECKING:
    from crabhook.broker.messages import Effect, Fact
    from crabhook.model.card import Request
    from crabhook.model.decision import Decision

Key = tuple[str, str]  # a command, and the subagent that makes it

WALL = 1e9  # seconds that the wall clock is ahead of the broker's
COMES_BACK = 100.0  # seconds in which a hook asks again for the answer that it lost


class UndecidedHistories(RuleBasedStateMachine):
    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.now, self.number = 1000.0, 0
        self.broker, self.merged = Broker(PLATFORMS), Merged()
        self.mapper = JournalMapper(lambda: self.now + WALL, self.broker.secret_of)
        self.asked: dict[str, tuple[Key, Request]] = {}
        self.connection: Counter[str] = Counter()
        self.heard: dict[str, tuple[bytes, float]] = {}
        self.allowed: dict[Key, set[str]] = {}
        self.yes: Counter[Key] = Counter()
        self.ruling: dict[Key, tuple[Decision, float]] = {}  # the last that still counts

    # What happens.

    @rule(
        target=tickets,
        command=st.sampled_from(["make", "make", "ls"]),
        agent=st.sampled_from(["", "", "sub"]),
    )
    def an_agent_asks(self, command: str, agent: str) -> str:
        self.number += 1
        ticket = f"t{self.number}"
        request = gate(ticket, command, f"id of {ticket}", agent=agent)
        request = replace(request, wait_until=self.now + WAIT, gives_up_at=self.now + WAIT)
        self.asked[ticket] = (command, agent), request
        expected = self._counts((command, agent))
        self._arrive(ticket)
        if expected is ALLOW:
            assert ticket in self.allowed[command, agent], "a yes did not count"
        if expected is DENY:
            assert b"not here" in self.heard[ticket][0], "a no did not count"
        return ticket

    @rule(ticket=tickets)
    def a_hook_comes_back(self, ticket: str) -> None:
        before = self.heard.get(ticket)
        if before is None or self.now - before[1] < COMES_BACK:
            self._arrive(ticket)

    @rule(ticket=tickets)
    def a_hook_leaves(self, ticket: str) -> None:
        if ticket not in self.heard:
            self._tell(Left(ticket, self.connection[ticket], self.now))

    @rule(seconds=st.sampled_from([0.5, 40.0, 40.0, 605.0, 605.0, 2000.0, 30_000.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self._tell(TimePassed(self.now))

    @rule(number=st.integers(1, 6), decision=st.sampled_from([ALLOW, ALLOW, DENY]))
    def a_person_rules(self, number: int, decision: Decision) -> None:
        card = self.broker.card(number)
        try:
            self._tell(Answered(number, decision, OWNER, self.now))
        except CrabhookError:
            return
        assert card is not None
        key = card.event.tool.input["command"], card.event.agent_id  # type: ignore[union-attr,index,call-overload]
        self.yes[key] += decision is ALLOW
        if card.went_on:
            self.ruling[key] = decision, self.now

    @rule()
    def the_server_is_killed(self) -> None:
        merged = self.merged
        recovered = Recovered(
            waiting=tuple(merged.waiting.values()),
            answers=tuple(merged.answers.values()),
            last_card=merged.last_card,
            halts=merged.halts or (),
        )
        self.broker = Broker(PLATFORMS)
        self.mapper = JournalMapper(lambda: self.now + WALL, self.broker.secret_of)
        self._tell(restored(recovered, PLATFORMS, self.now, self.now + WALL))

    @rule(agent=st.sampled_from(["", "sub"]))
    def an_agents_turn_ends(self, agent: str) -> None:
        self.number += 1
        ending = asking(f"e{self.number}", "SubagentStop" if agent else "Stop", agent=agent)
        self._tell(Arrived(replace(ending, wait_until=self.now), None, 1, self.now))

    # What must hold.

    @invariant()
    def no_more_calls_run_than_were_allowed(self) -> None:
        for key, tickets in self.allowed.items():
            assert len(tickets) <= self.yes[key]

    @invariant()
    def one_open_card_stands_for_a_call(self) -> None:
        waiting = self.broker.waiting()
        calls = Counter(
            (card.event.agent_id, str(card.event.tool and card.event.tool.input))
            for card in waiting
            if card.went_on
        )
        assert all(times == 1 for times in calls.values())
        assert self.broker.asked().keys() <= {card.number for card in waiting}
        assert all(Verdict.PASS not in card.choices.verdicts for card in waiting if card.went_on)

    @invariant()
    def the_record_has_what_waits(self) -> None:
        legs = {leg.id for card in self.broker.waiting() for leg in card.requests}
        assert legs == self.merged.waiting.keys()

    def _counts(self, key: Key) -> Decision | None:
        """Return what was ruled on the next such call, if that still counts."""
        decision, at = self.ruling.get(key, (None, 0.0))
        return decision if self.now - at < RULED_FOR else None

    def _arrive(self, ticket: str) -> None:
        key, request = self.asked[ticket]
        self.connection[ticket] += 1
        before = len(self.allowed.get(key, ()))
        self._tell(Arrived(request, None, self.connection[ticket], self.now))
        if self._counts(key) is ALLOW and len(self.allowed.get(key, ())) > before:
            del self.ruling[key]

    def _tell(self, fact: Fact) -> None:
        effects = self.broker.handle(fact)
        for effect in effects:
            if isinstance(effect, Resolve) and effect.request_id in self.asked:
                self._hear(effect)
        self._record(fact, effects)

    def _hear(self, effect: Resolve) -> None:
        ticket, printed = effect.request_id, effect.reply.stdout
        earlier = self.heard.setdefault(ticket, (printed, self.now))[0]
        assert printed == earlier, "an invocation heard two answers"
        if is_allow(effect.reply):
            self.allowed.setdefault(self.asked[ticket][0], set()).add(ticket)

    def _record(self, fact: Fact, effects: list[Effect]) -> None:
        broker = self.broker
        steering = Steering(broker.lasting(), broker.notes(), broker.ballots(), broker.asked())
        for change in self.mapper.changes(fact, effects, steering):
            assert isinstance(change, Change)
            self.merged.add(change)


TestUndecidedHistories = pytest.mark.timeout(300)(UndecidedHistories.TestCase)
TestUndecidedHistories.settings = examples(100, stateful_step_count=30)
