"""Every request that is taken in waits, or has ended in one way: whatever happens, in any order."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import grpc
import pytest
from hypothesis.stateful import invariant

from crabhook.broker.messages import (
    Arrived,
    Commanded,
    Effect,
    Fact,
    Mirrored,
    Refusal,
    Refuse,
    Resolve,
    Restored,
    RestoredRequest,
    RuleAdded,
    Show,
    TimePassed,
)
from crabhook.broker.pending import Limits
from crabhook.desk.commands import Steer
from crabhook.model.actor import OWNER, Headless, Nobody
from crabhook.model.card import Request, Stance
from crabhook.model.event import Event
from crabhook.model.order import Order, OrderKind
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.rulebook.files import RuleFiles
from crabhook.server.address import TcpAddress
from crabhook.server.core.intake import Intake
from crabhook.server.core.pending_call import RefusedError
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.server.metrics.tally import OTHER, End, Tally, labels_of
from tests.support.examples import examples
from tests.support.playbook import ALLOW, DENY, PASS, Playbook, asking, bash, prompt
from tests.support.port import ask, connected, opened, request
from tests.support.runners import bare_runner
from tests.support.seat import seat
from tests.unit.broker.test_histories import Call, Histories

TOKEN = (("authorization", "Bearer t0ken"),)


class Counted(Histories):
    """All that can happen to a broker, counted; a server that is killed forgets its count."""

    def __init__(self) -> None:
        super().__init__()
        self._begin()

    def _begin(self) -> None:
        self.tally = Tally()
        self.new = self.decided = self.observed = self.expired = 0

    def _ask(self, call: Call | None, request: Request) -> list[Effect]:
        self.under_an_order.add(request.id)  # what may be allowed is the other histories' law
        return super()._ask(call, request)

    def _tell(self, fact: Fact) -> list[Effect]:
        waited = self._legs()
        effects = super()._tell(fact)
        if isinstance(fact, Restored):
            self._begin()
        self.tally._count(fact, effects)  # which, unlike `handled`, lets a fault of its own out
        self._see(fact, effects, waited)
        return effects

    def _see(self, fact: Fact, effects: Sequence[Effect], waited: set[str]) -> None:
        """Count once more, from less: what the effects alone tell, and who is on a card."""
        asked = fact.request.id if isinstance(fact, Arrived) else None
        at_once = [one for one in effects if isinstance(one, Resolve) and one.request_id == asked]
        self.new += len(self._legs() - waited) if not isinstance(fact, Restored) else 0
        self.new += len(fact.waiting) if isinstance(fact, Restored) else 0
        self.new += sum(not one.confirm for one in at_once)
        self.observed += sum(not one.confirm and one.decided is None for one in at_once)
        for one in effects:
            if isinstance(one, Resolve) and one.decided and not isinstance(one.decided.by, Nobody):
                self.decided += 1
            if isinstance(one, Refuse) and isinstance(fact, TimePassed):
                self.expired += 1

    def _legs(self) -> set[str]:
        return {leg.id for card in self.broker.waiting() for leg in card.requests}

    @invariant()
    def whatever_was_taken_in_waits_or_has_ended(self) -> None:
        tally = self.tally
        assert tally.taken_in.total() == tally.waiting + tally.ended.total()
        assert set(tally._waiting) == self._legs()

    @invariant()
    def what_is_counted_is_what_happened(self) -> None:
        tally = self.tally
        assert tally.taken_in.total() == self.new
        assert tally.ended[End.DECIDED] == tally.decisions.total() == self.decided
        assert tally.ended[End.OBSERVED] == self.observed
        assert tally.ended[End.EXPIRED] == self.expired
        assert all(by != OTHER for by, _ in tally.decisions)

    def teardown(self) -> None:
        super().teardown()
        self.whatever_was_taken_in_waits_or_has_ended()
        assert not self.tally.waiting


Counted.TestCase.settings = examples(100, stateful_step_count=40)
TestCounted = Counted.TestCase


class Book(Playbook):
    """A playbook whose facts are counted."""

    def __init__(self) -> None:
        super().__init__()
        self.decided_after = list[float]()
        self.tally = Tally(self.decided_after.append)

    def _told(self, what: str, fact: Fact) -> Self:
        super()._told(what, fact)
        self.tally._count(fact, self.effects)
        return self

    def ended(self) -> dict[End, int]:
        return {end: many for end, many in self.tally.ended.items() if many}


def test_each_way_to_end_is_counted_as_itself() -> None:
    book = Book()
    book.asks(bash("a", "ls")).answers(1, ALLOW)
    assert book.ended() == {End.DECIDED: 1}
    book.asks(bash("b", "ls", "t2")).leaves("b")
    assert book.ended()[End.HOOK_LEFT] == 1
    book.asks(bash("c", "ls", "t3", wait=5)).waits(6)
    assert book.ended()[End.EXPIRED] == 1
    book.asks(prompt("d", "ls")).asks(asking("e", "Notification"))
    assert book.ended()[End.UNDECIDED] == 1, "the call had no answer a moment ago"
    assert book.ended()[End.OBSERVED] == 1
    book.asks(prompt("f", "make")).asks(asking("g", "PostToolBatch"))
    assert book.ended()[End.ANSWERED_AT_AGENT] == 1
    book.asks(bash("h", "make", "t5")).orders(Order(OrderKind.AWAY, until=book.now + 60))
    book.asks(bash("i", "make", "t6"))
    assert book.ended()[End.AWAY] == 2
    book.waits(61).asks(bash("j", "make", "t7")).closes()
    assert book.ended()[End.OPERATOR_LEFT] == 1
    assert book.tally.taken_in.total() == sum(book.ended().values()) == 10
    assert book.tally.decisions == {("operator", "allow"): 1}


def test_what_waited_at_the_server_before_counts_as_taken_in_and_may_not_come_back() -> None:
    book = Book()
    waits = bash("a", "ls", wait=book.now + 600)
    book._told("again", Restored((RestoredRequest(3, waits),), (), (), 3, book.now))
    assert (book.tally.restored, book.tally.waiting) == (1, 1)
    book.waits(151)
    assert book.ended() == {End.NEVER_CAME_BACK: 1}


def test_what_waits_where_another_server_leads_now_has_ended_here() -> None:
    book = Book()
    book.asks(bash("a", "ls")).asks(bash("b", "make", "t2")).answers(1, ALLOW)
    book.tally.lead_elsewhere()
    assert book.tally.waiting == 0
    assert book.ended() == {End.DECIDED: 1, End.LED_ELSEWHERE: 1}
    assert book.tally.taken_in.total() == 2


def test_what_another_server_shows_is_not_counted_here() -> None:
    book = Book()
    waits = bash("a", "ls", wait=book.now + 600)
    book._told("shown", Mirrored((RestoredRequest(3, waits),), (), book.now))
    assert (book.tally.restored, book.tally.waiting, book.ended()) == (0, 0, {})


def test_a_hook_that_comes_back_is_no_new_request() -> None:
    book = Book()
    book.asks(bash("a", "ls")).asks(bash("a", "ls")).answers(1, ALLOW).asks(bash("a", "ls"))
    assert (book.tally.taken_in.total(), book.tally.returns) == (1, 2)
    book.confirms("a", whole=False).confirms("a").confirms("a")
    assert book.tally.receipts == {True: 1, False: 1}


def test_an_answer_at_once_that_carries_a_note_is_of_a_new_request() -> None:
    book = Book()
    for session, stance in (("s", Stance.COMPANION), ("t", Stance.GATE)):
        book.asks(asking(f"{session}1", "SessionStart", session=session))
        book._told("steered", Commanded(Steer(session, "the blue one"), OWNER, book.now))
        if stance is Stance.GATE:
            book.judge = lambda _event: Ruling(RuleVerdict.ALLOW, None, "")
        book.asks(bash(session, "ls", session, session=session, stance=stance))
        assert [one.confirm for one in book.effects if isinstance(one, Resolve)] == [True]
    assert (book.tally.taken_in.total(), book.tally.returns) == (4, 0)
    assert book.ended() == {End.OBSERVED: 3, End.DECIDED: 1}


def test_a_card_of_two_legs_is_restored_whole() -> None:
    book = Book()
    legs = (bash("a", "ls", wait=book.now + 600), prompt("b", "ls", wait=book.now + 600))
    book._told(
        "again", Restored(tuple(RestoredRequest(3, leg) for leg in legs), (), (), 3, book.now)
    )
    assert (book.tally.restored, book.tally.waiting, book.ended()) == (2, 2, {})
    book.answers(3, ALLOW)
    assert book.ended() == {End.DECIDED: 2}


def test_a_restored_hook_whose_time_seemed_over_is_no_new_request_when_it_is_back() -> None:
    book = Book()
    waits = bash("a", "ls", wait=book.now + 1)
    book._told("again", Restored((RestoredRequest(3, waits),), (), (), 3, book.now))
    book.asks(bash("a", "ls"))
    assert any(isinstance(effect, Show) for effect in book.effects)
    assert (book.tally.taken_in.total(), book.tally.waiting, book.tally.returns) == (1, 1, 1)


def test_how_long_is_counted_of_what_the_operator_decided_alone() -> None:
    book = Book()
    book.asks(bash("a", "ls")).waits(7).answers(1, DENY)
    book.asks(bash("b", "ls", "t2")).waits(7).answers(2, PASS, Headless())
    book.asks(bash("c", "ls", "t3")).waits(7).leaves("c")
    assert book.decided_after == [7]


@pytest.mark.parametrize(
    ("platform", "name", "counted"),
    [
        ("claude", "PreToolUse", ("claude", "PreToolUse")),
        ("gemini", "BeforeTool", ("gemini", "BeforeTool")),
        ("gemini", "PreToolUse", ("gemini", "other")),
        ("claude", 'x"} 1\n', ("claude", "other")),
        ("nobody", "PreToolUse", ("other", "other")),
    ],
)
def test_a_name_of_an_agents_own_making_makes_no_label(
    platform: str, name: str, counted: tuple[str, str]
) -> None:
    assert labels_of(Event(platform, name)) == counted


RULES = """
[[rule]]
verdict = "allow"
match = "Bash(ls)"

[[rule]]
verdict = "deny"
match = "Bash(rm)"
"""


async def test_who_decided_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES)
    tally = Tally()
    runner = bare_runner(rules=RulesInForce(RuleFiles(tmp_path)), witness=tally)
    soon = runner.now() + 60
    for ticket, command in (("a", "make"), ("b", "make it"), ("c", "ls"), ("d", "rm")):
        await Intake(runner).enter(bash(ticket, command, ticket, wait=soon))
    seat(runner).answer(1, ALLOW)
    seat(runner, Headless()).answer(2, PASS)
    seat(runner).order(Order(OrderKind.ALLOW_ALL, session="t", until=soon))
    runner.enter(bash("e", "make", "e", wait=soon, session="t"), None)
    seat(runner).order(Order(OrderKind.KEEP_GOING, name="Stop", words="go on", times=2))
    runner.enter(asking("f", "Stop", wait=soon), None)
    assert tally.decisions == {
        ("operator", "allow"): 1,
        ("headless", "pass"): 1,
        ("rule", "allow"): 1,
        ("rule", "deny"): 1,
        ("order", "allow"): 1,
        ("order", "keep-going"): 1,
    }
    runner.close()


async def test_what_a_new_rule_lets_go_is_the_rules_decision(tmp_path: Path) -> None:
    law, tally = RulesInForce(RuleFiles(tmp_path)), Tally()
    runner = bare_runner(rules=law, witness=tally)
    for ticket in ("a", "b"):
        runner.enter(bash(ticket, "ls", ticket, wait=runner.now() + 60), None)
    (tmp_path / "rules.toml").write_text(RULES)
    law.look_again()
    seat(runner).answer(1, ALLOW)
    runner.handle(RuleAdded("#1", "allow Bash(ls)", OWNER, runner.now()))
    runner.queries.judge_again(runner.broker.alike(1))
    async with asyncio.timeout(60):
        while runner.broker.waiting():  # noqa: ASYNC110 - as a person looks
            await asyncio.sleep(0.005)  # it is judged in a thread
    assert tally.decisions == {("operator", "allow"): 1, ("rule", "allow"): 1}
    assert (tally.waiting, tally.ended[End.DECIDED]) == (0, 2)
    runner.close()


async def test_what_is_turned_away_is_counted_by_its_reason_and_not_as_taken_in() -> None:
    tally = Tally()
    runner = bare_runner(bounds=Limits(session_requests=1), witness=tally)
    intake, soon = Intake(runner), runner.now() + 60
    await intake.enter(bash("a", "ls", wait=soon))
    for one in (bash("b", "ls", "t2", wait=soon), bash("a", "ls", secret="guess", wait=soon)):
        with pytest.raises(RefusedError):
            await intake.enter(one)
    runner.hand_over()
    with pytest.raises(RefusedError):
        await intake.enter(bash("c", "ls", "t3", wait=soon))
    reasons = (Refusal.SESSION_FULL, Refusal.NOT_YOURS, Refusal.HANDED_OVER)
    assert tally.refusals == dict.fromkeys(reasons, 1)
    assert tally.taken_in.total() == tally.waiting == 1


async def test_strangers_and_what_nobody_can_read_are_counted() -> None:
    tally = Tally()
    async with (
        opened(TcpAddress("127.0.0.1", 0), token="t0ken", witness=tally) as port,
        connected(port.bound[0]) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError, match="UNAUTHENTICATED"):
            await ask(channel, request(b"{"))
        await ask(channel, request(b"{"), metadata=TOKEN)
    assert (tally.strangers, tally.unreadable) == (1, {"claude": 1})
    assert not tally.taken_in


def test_a_fault_in_counting_is_logged_and_goes_no_further(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tally = Tally()
    nonsense: Any = [Show(None, "no card")]  # type: ignore[arg-type]  # what no broker returns
    tally.handled(TimePassed(1.0), nonsense)
    assert "TimePassed was not counted" in caplog.text
    assert tally.waiting == 0
