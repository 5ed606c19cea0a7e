"""The desk in the server's own process: what an operator changes is judged beside the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, get_args

import pytest

from crabhook.desk.commands import (
    AskContext,
    AskDesks,
    AskEntry,
    AskHistory,
    AskObjections,
    AskOffers,
    Claim,
    Decide,
    DecideWithRule,
    Done,
    GiveOrder,
    KeepRule,
    Outcome,
    Refused,
    Stale,
    TakenOffer,
    TooLate,
)
from crabhook.desk.replica import Replica
from crabhook.desk.updates import (
    AttachedDesk,
    HouseChanged,
    LinkChanged,
    News,
    Snapshot,
    Update,
)
from crabhook.model.actor import OWNER, Operator, OrderKind
from crabhook.model.ballot import Terms
from crabhook.model.card import NO_RISK, Card, Request
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.order import Order
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core.intake import Intake
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.server.core.runner import OUTCOMES_KEPT
from tests.support.desk import PLAYED_SECRET, PlayedDesk
from tests.support.offering import BOTH, NARROW
from tests.support.playbook import ALLOW, bash
from tests.support.ruled import NO_RM, judge_by
from tests.support.runners import bare_runner
from tests.support.seat import Seat, seat
from tests.support.sitting import call

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


ALREADY = "#1 is already decided: this answer changed nothing"
CHANGED = Decision(Verdict.ALLOW, updated_input={"command": "rm -rf /" * 50_000})
DENIED = Ruling(RuleVerdict.DENY, None, "not that")


class Slow:
    """Rules that deny what is changed, and take until they are told to speak."""

    def __init__(self) -> None:
        self.asked, self.enough = 0, asyncio.Event()

    async def __call__(self, event: Event, *, long: bool) -> Ruling | None:
        if event.tool is None or event.tool.input == {"command": "ls"}:
            return None
        self.asked += 1
        assert long, "off the loop"
        await self.enough.wait()
        return DENIED


async def test_while_an_operators_change_is_judged_no_hook_waits_and_nothing_is_sent() -> None:
    rules = Slow()
    runner = bare_runner(judge=rules)
    desk, soon = seat(runner), runner.now() + 60
    place = await Intake(runner).enter(bash("a", "ls", "t1", wait=soon))
    assert desk.objections(1, CHANGED) is None
    assert refused(desk, CHANGED, "the rules were not asked")
    await asyncio.wait_for(Intake(runner).enter(bash("b", "ls", "t2", wait=soon)), 60)
    assert desk.objections(1, CHANGED) is None
    rules.enough.set()
    assert (await objections(desk, CHANGED), rules.asked) == (("not that",), 1)
    assert refused(desk, CHANGED, "the rules are against")
    assert not place.over
    runner.close()


async def test_what_was_judged_is_no_ruling_on_another_change() -> None:
    rules = Slow()
    rules.enough.set()
    runner = bare_runner(judge=rules)
    desk = seat(runner)
    await Intake(runner).enter(bash("a", "ls", wait=runner.now() + 60))
    await objections(desk, CHANGED)
    other = Decision(Verdict.ALLOW, updated_input={"command": "rm -rf ."}, despite=("not that",))
    assert refused(desk, other, "the rules were not asked")
    runner.close()


async def test_what_was_judged_is_no_ruling_on_what_python_takes_for_equal() -> None:
    rules = Slow()
    rules.enough.set()
    runner = bare_runner(judge=rules)
    desk = seat(runner)
    await Intake(runner).enter(bash("a", "ls", wait=runner.now() + 60))
    first, second = ({"command": "rm -rf /", "timeout": one} for one in (1, True))
    await objections(desk, Decision(Verdict.ALLOW, updated_input=first))
    other = Decision(Verdict.ALLOW, updated_input=second, despite=("not that",))
    assert refused(desk, other, "the rules were not asked")
    runner.close()


async def test_a_yes_to_what_an_older_edition_of_the_rules_said_is_judged_again(
    tmp_path: Path,
) -> None:
    files = RuleFiles(tmp_path)
    law = RulesInForce(files)
    runner = bare_runner(rules=law)
    desk = seat(runner)
    ask = bash("a", "ls", wait=runner.now() + 60)
    place = await Intake(runner).enter(ask)
    changed = Decision(Verdict.ALLOW, updated_input={"command": "rm -rf build"})
    assert desk.replica.changed_risk(1, changed) is None
    assert await objections(desk, changed) == ()
    risk = desk.replica.changed_risk(1, changed)
    assert risk is not None
    assert [one.kind for one in risk.effects] == ["deletes"]
    files.user.write_text(NO_RM, encoding="utf-8")
    law.look_again()  # as a rule that is written at another card
    assert refused(desk, changed, "the rules may have changed")
    assert not place.over
    (said,) = await objections(desk, changed)
    assert "deny Bash(rm *)" in said
    assert refused(desk, changed, "the rules are against")
    assert desk.replica.waiting()[0].risk == NO_RISK
    assert desk.answer(1, replace(changed, despite=(said,))).risk == risk
    assert place.over
    runner.close()


async def objections(desk: Seat, decision: Decision) -> Sequence[str] | None:
    """Return the objections once they have come, by themselves."""
    settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    desk.replica.submit(AskObjections(1, decision), settled.set_result)
    async with asyncio.timeout(60):
        assert await settled == Done()
    return desk.replica.objections(1, decision)


def refused(desk: Seat, decision: Decision, why: str) -> bool:
    """Whether the card cannot be decided so, for that reason."""
    outcome = desk.decide(1, decision)
    return isinstance(outcome, Refused) and why in outcome.why


async def test_rules_that_cannot_be_asked_about_a_change_are_against_it_and_nobody_waits_in_vain() -> (
    None
):
    async def faulty(event: Event, *, long: bool) -> Ruling | None:
        raise OSError("the folder cannot be looked at")

    runner = bare_runner(judge=faulty)
    desk = seat(runner)
    runner.enter(bash("a", "ls", wait=runner.now() + 60), None)
    assert await objections(desk, CHANGED) == ("the rules could not be asked: a fault",)
    assert refused(desk, CHANGED, "the rules are against")
    runner.close()


async def test_a_decision_is_made_by_who_sits_at_the_desk() -> None:
    runner, ann = bare_runner(), Operator("a1", "ann", "laptop")
    for ticket, by in (("a", OWNER), ("b", ann)):
        runner.enter(bash(ticket, "ls", ticket, wait=runner.now() + 60), None)
        (card,) = runner.broker.waiting()
        card = seat(runner, by).answer(card.number, ALLOW)
        assert card.decided is not None
        assert card.decided.by == by
    runner.close()


def test_a_command_that_comes_twice_has_the_same_outcome_and_is_done_once() -> None:
    desk = PlayedDesk()
    desk.ask(call())
    command, other_desk = Decide(1, 1, ALLOW), LocalDesk(desk.runner, OWNER)
    again = Seat(other_desk, desk.runner)  # the same operator, whose connection was lost
    assert [desk.seat.outcome(command), again.outcome(command)] == [Done(), Done()]
    assert len(desk.decided) == 1
    order = GiveOrder(Order(OrderKind.HOLD, "Stop"))
    assert [again.outcome(order), again.outcome(order)] == [Done(), Done()]
    assert [one.id for one in desk.orders()] == [1]
    late = Decide(1, 1, ALLOW)
    assert desk.seat.outcome(late) == again.outcome(late) == TooLate(ALREADY, OWNER)


def test_another_command_with_the_same_id_is_refused_and_another_operators_is_not() -> None:
    desk = PlayedDesk()
    for use in ("t1", "t2", "t3"):
        desk.ask(call(tool_use_id=use))
    assert desk.seat.outcome(Decide(1, 1, ALLOW, id="one")) == Done()
    forged = desk.seat.outcome(Decide(2, 1, ALLOW, id="one"))
    assert isinstance(forged, Refused)
    assert "the same id" in forged.why
    ann = Seat(LocalDesk(desk.runner, Operator("a1", "ann", "laptop")), desk.runner)
    assert ann.outcome(Decide(3, 1, ALLOW, id="one")) == Done()
    assert [number for number, _ in desk.decided] == [1, 3]


def test_the_outcomes_that_are_remembered_have_a_limit() -> None:
    desk = PlayedDesk()
    for _ in range(OUTCOMES_KEPT + 10):
        desk.seat.outcome(Decide(7, 1, ALLOW))
    assert len(desk.runner.submitted) == OUTCOMES_KEPT


def test_a_decision_on_a_card_as_it_was_before_is_stale_and_says_what_it_is_now() -> None:
    desk = PlayedDesk()
    hook = desk.ask(call(tool_use_id="t1"))
    desk.ask(call(hook_event_name="PermissionRequest", tool_use_id="t1"))
    stale = desk.seat.outcome(Decide(1, 1, ALLOW))
    assert isinstance(stale, Stale)
    assert (stale.now, desk.replies) == (2, {})
    assert desk.seat.outcome(Decide(1, stale.now, ALLOW)) == Done()
    assert hook in desk.replies


def test_a_fault_behind_the_door_is_an_outcome_and_no_exception(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = PlayedDesk()
    desk.ask(call())

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(desk.runner.broker, "handle", fail)
    outcome = desk.seat.outcome(Decide(1, 1, ALLOW))
    assert isinstance(outcome, Refused)
    assert "the disk is full" in caplog.text


def test_what_one_desk_asked_and_did_is_settled_at_that_desk_alone() -> None:
    desk, heard = PlayedDesk(), list[News]()
    desk.ask(call())
    LocalDesk(desk.runner, OWNER).subscribe(lambda update: heard.append(update.news))
    desk.seat.last_words(1)
    desk.answer(1, ALLOW)
    assert [type(one) for one in heard] == [Snapshot, Card]


def test_no_update_holds_a_tickets_secret_nor_a_function() -> None:
    """Each value is walked to its leaves: whatever is told may go over a wire."""
    desk, updates = PlayedDesk(), list[Update]()
    desk.subscribe(updates.append)
    desk.offered[1] = BOTH
    first = desk.ask(call(tool_use_id="t1"))
    desk.ask(call(hook_event_name="PermissionRequest", tool_use_id="t1"))
    asked = (
        AskOffers(1),
        AskContext(1),
        AskObjections(1, CHANGED),
        AskHistory(),
        AskEntry(1),
        AskDesks(),
    )
    for command in (*asked, Claim(1), Decide(1, 2, ALLOW)):
        desk.submit(command)
    desk.deliver(first)
    desk.order(Order(OrderKind.HOLD, "Stop"))
    desk.wrong.append("wrong")
    desk.runner.stand(HouseChanged("rules 2 ok", "1 allowed"))
    with desk.runner.attendance.attending(AttachedDesk(OWNER)):
        desk.runner.look_at_troubles()
        desk.pass_time(1)
    desk.subscribe(updates.append)
    kinds = {type(update.news) for update in updates}
    assert kinds | {LinkChanged} == set(get_args(News))  # a desk elsewhere tells that itself
    found = list(leaves(updates))
    assert "ls -l" in found
    assert PLAYED_SECRET not in found
    assert not [one for one in found if isinstance(one, Request) or callable(one)]


def leaves(value: object) -> Iterator[object]:
    """Yield all that a value is made of."""
    yield value if not isinstance(value, type) else value.__name__
    if is_dataclass(value):
        for one in fields(value):
            yield from leaves(getattr(value, one.name))
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from leaves(key)
            yield from leaves(one)
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from leaves(one)


def test_how_rules_and_record_stand_and_the_day_reach_every_desk_once_they_change() -> None:
    desk = PlayedDesk()
    house = [HouseChanged("rules 2 ok · record ok", "1 allowed")]
    desk.runner.stand(house[0])
    here, elsewhere = (
        Replica(desk, desk.now),
        Replica(LocalDesk(desk.runner, Operator("ann", "Ann", "laptop")), desk.now),
    )
    heard: list[News] = []
    here.follow(heard.append)
    elsewhere.follow()
    assert here.house() == elsewhere.house() == house[0]
    house[0] = HouseChanged("rules 2 WRONG · record MISSING", "1 allowed · 1 denied")
    desk.runner.stand(house[0])
    for _ in range(3):
        desk.runner.look_at_troubles()
    assert here.house() == elsewhere.house() == house[0]
    assert [one for one in heard if isinstance(one, HouseChanged)] == house


def test_a_desk_that_comes_takes_no_news_of_the_house_away_from_those_that_are_there() -> None:
    desk = PlayedDesk()
    desk.replica.follow()
    wrong = HouseChanged("rules 2 WRONG · record ok")
    desk.runner.stand(wrong)
    desk.wrong.append("wrong")
    with desk.runner.attendance.attending(AttachedDesk(OWNER)):
        Replica(desk, desk.now).follow()
    assert (desk.replica.house(), desk.replica.troubles()) == (wrong, ("wrong",))
    assert desk.replica.desks() == 1


@pytest.mark.parametrize("from_history", [False, True])
def test_a_rule_decides_no_card_that_it_spares(*, from_history: bool) -> None:
    desk = PlayedDesk()
    allow = judge_by('[[rule]]\nverdict = "allow"\nmatch = "Bash"\n', "/home/ann/api-server")
    desk.read.judge = lambda event: allow(event) if desk.rules else None
    desk.offered[1] = BOTH
    for session in "abc":
        desk.ask(call(session_id=session))
    taken, spares = TakenOffer(NARROW.id, NARROW.expires), frozenset({2})
    if from_history:
        desk.seat.done(KeepRule(1, taken, spares))
    else:
        desk.seat.done(DecideWithRule(1, 1, taken, ALLOW, spares))
    assert [card.number for card in desk.waiting()] == [2]


def test_a_denial_with_a_rule_keeps_a_rule_that_denies() -> None:
    desk = PlayedDesk()
    desk.offered[1] = BOTH
    desk.ask(call(session_id="a"))
    taken = TakenOffer(NARROW.id, NARROW.expires)
    desk.seat.done(DecideWithRule(1, 1, taken, Decision(Verdict.DENY, reason="no")))
    ((_, kept),) = desk.rules
    assert kept.rule.startswith("deny ")  # as the played desk tells it


def test_a_yes_that_needs_others_too_keeps_no_rule() -> None:
    desk = PlayedDesk()
    terms = (Terms(need=2, rule="rules.toml, line 1"),)
    desk.read.judge = lambda _: Ruling(RuleVerdict.ASK_OPERATOR, None, "two of us", terms=terms)
    desk.offered[1] = BOTH
    desk.ask(call(session_id="a"))
    taken = TakenOffer(NARROW.id, NARROW.expires)
    refusal = desk.seat.outcome(DecideWithRule(1, 1, taken, ALLOW, frozenset()))
    assert isinstance(refusal, Refused)
    assert "cannot be allowed with a rule" in refusal.why
    assert not desk.rules
