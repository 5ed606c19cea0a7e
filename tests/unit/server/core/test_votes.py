"""Cards that need several people, on a runner with a record: nothing is lost between two facts."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from crabhook.broker.messages import TimePassed
from crabhook.desk.commands import AskObjections, Claim, Decide, Done, Refused
from crabhook.model.actor import Operator, ShownBy
from crabhook.model.ballot import Electorate, LadderStep, Terms, Voter
from crabhook.model.decision import Decision, Verdict
from crabhook.model.proof import CallProof
from crabhook.policy.rule import Rule, RuleVerdict, Ruling
from crabhook.present.card import votes as votes_in_words
from crabhook.rulebook.files import RuleFiles
from crabhook.server.core.history import read_page
from crabhook.server.core.local_desk import LocalDesk
from crabhook.store.opening import open_history, open_writer
from crabhook.store.recorder import Recorder
from crabhook.store.verify import verify
from tests.support.playbook import ALLOW, DENY, bash
from tests.support.runners import bare_runner
from tests.support.seat import Seat

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.desk.commands import Outcome
    from crabhook.model.event import Event
    from crabhook.server.core.pending_call import PendingCall
    from crabhook.server.core.runner import Runner

TEAM = Electorate(
    (
        Voter("o-ann", "ann", ("@leads",)),
        Voter("o-bob", "bob", ("@leads",)),
        Voter("o-cat", "cat"),
    ),
    owner_known=True,
)
TERMS = Terms(2, ("@leads",), after=(LadderStep(300, "cat"),), rule="rules.toml, line 1")
RULE = Rule(RuleVerdict.ASK_OPERATOR, ("Bash",), (), terms=TERMS)
RULING = Ruling(RuleVerdict.ASK_OPERATOR, RULE, "the rule", terms=(TERMS,))
EDIT = Decision(Verdict.ALLOW, updated_input={"command": "ls -l"}, note="shorter")


def person(name: str) -> Operator:
    return Operator(f"o-{name}", name, f"{name}'s", shown=ShownBy.PASSPHRASE.value)


async def judge(event: Event, /, *, long: bool) -> Ruling | None:
    return RULING if event.tool and event.tool.input == {"command": "ls"} else None


class House:
    """A server with a record, which can be killed and begun anew at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.electorate, self.numbers = folder, TEAM, count(1)

    async def begin(self) -> Runner:
        self.store = open_writer(self.folder)
        recorder = Recorder(lambda: self.store)
        self.runner = bare_runner(recorder, judge, electorate=lambda _: self.electorate)
        await self.runner.restore()
        return self.runner

    def kill(self) -> None:
        if self.runner._alarm:
            self.runner._alarm.cancel()
        self.runner._receipts.stop()
        self.store.close()

    def asks(self, ticket: str = "a") -> PendingCall:
        request = bash(ticket, "ls", f"id of {ticket}", wait=self.runner.now() + 600)
        return self.runner.enter(request, RULING)

    def seat(self, name: str) -> Seat:
        return Seat(LocalDesk(self.runner, person(name)), self.runner)

    async def says(self, name: str, decision: Decision, number: int = 1) -> Outcome:
        seat, done = self.seat(name), asyncio.get_running_loop().create_future()
        card = seat.replica.card(number)
        assert card is not None
        if decision.updated_input is not None:
            asked = asyncio.get_running_loop().create_future()
            seat.replica.submit(AskObjections(number, decision), asked.set_result)
            await asyncio.wait_for(asked, 60)
        seat.replica.submit(Decide(number, card.revision, decision), done.set_result)
        return await asyncio.wait_for(done, 60)


async def test_a_kill_between_any_two_facts_loses_no_vote_and_counts_none_twice(
    tmp_path: Path,
) -> None:
    house = House(tmp_path)
    await house.begin()
    house.asks()
    house.seat("bob").done(Claim(1))
    for what in ("looked at", "voted", "agreed with an edit"):
        before = house.runner.broker.ballots()[1]
        house.kill()
        await house.begin()
        after = house.runner.broker.ballots()[1]
        assert replace(after, asked_at=0, looks=(), votes=()) == replace(
            before, asked_at=0, looks=(), votes=(), as_of=after.as_of
        )
        assert [vote.by for vote in after.votes] == [vote.by for vote in before.votes]
        assert after.asked_at == pytest.approx(before.asked_at, abs=1)
        assert [look.person for look in after.looks] == [look.person for look in before.looks]
        if what == "looked at":
            assert await house.says("ann", ALLOW) == Done()
            assert isinstance(await house.says("ann", ALLOW), Refused)
        elif what == "voted":
            assert await house.says("bob", EDIT) == Done()
    assert [vote.by.name for vote in after.votes] == ["bob"], "the edit voided the yes of ann"
    call = house.asks()
    assert await house.says("ann", ALLOW) == Done()
    reply = json.loads((await asyncio.wait_for(call.wait(), 60)).stdout)
    assert reply["hookSpecificOutput"]["updatedInput"] == {"command": "ls -l"}
    house.kill()
    with open_history(tmp_path) as history:
        kinds = [record.kind for record in history.find()]
        assert not verify(history, []).faults
        (decided,) = (record for record in history.find() if record.kind == "decided")
    assert [kind for kind in kinds if kind in ("claimed", "voted", "decided")] == [
        "claimed",
        "voted",
        "voted",
        "decided",
    ]
    (past, *_) = read_page(tmp_path, RuleFiles(tmp_path / "rules"), 0).entries
    assert votes_in_words(past.card) == "bob and ann said yes"
    votes = decided.data()["votes"]
    assert [vote["actor"]["name"] for vote in votes] == ["bob", "ann"]


async def test_a_thousand_say_yes_at_once_and_one_decision_is_made(tmp_path: Path) -> None:
    people = [f"p{number}" for number in range(1000)]
    house = House(tmp_path)
    house.electorate = Electorate(tuple(Voter(f"o-{name}", name, ("@leads",)) for name in people))
    await house.begin()
    call = house.asks()
    desks = [LocalDesk(house.runner, person(name)) for name in people]
    outcomes: list[Outcome] = []
    card = house.runner.broker.card(1)
    assert card is not None
    for desk in desks:
        seat = Seat(desk, house.runner)
        seat.replica.submit(Decide(1, card.revision, ALLOW), outcomes.append)
        seat.leave()
    assert outcomes.count(Done()) == 2
    assert len(outcomes) == 1000
    assert b'"allow"' in (await asyncio.wait_for(call.wait(), 60)).stdout
    house.kill()


async def test_a_yes_that_is_not_enough_has_its_proof_on_record(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.begin()
    house.asks()
    proof = CallProof(b"signed", b'{"card": 1}', '{"id": "assertion"}')
    desk = LocalDesk(house.runner, person("ann"))
    card = house.runner.broker.card(1)
    assert card is not None
    desk.submit_if(lambda: "", Decide(1, card.revision, ALLOW), proof)
    house.kill()
    with open_history(tmp_path) as history:
        (voted,) = (record for record in history.find() if record.kind == "voted")
    assert voted.data()["proof"]["request"] == '{"card": 1}'
    assert voted.verdict == "allow"


async def test_the_team_is_looked_at_again_and_who_left_has_no_vote(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.begin()
    house.asks()
    assert await house.says("ann", ALLOW) == Done()
    house.electorate = Electorate(TEAM.voters[1:], owner_known=True)
    house.runner.look_at_electorates()
    assert house.runner.broker.ballots()[1].votes == ()
    house.kill()
    with open_history(tmp_path) as history:
        (void,) = (record for record in history.find() if record.kind == "votes-void")
    assert void.data()["void"][0]["actor"]["name"] == "ann"


async def test_a_step_of_the_ladder_is_on_record(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.begin()
    house.asks()
    house.runner.handle(TimePassed(house.runner.now() + 301))
    assert await house.says("bob", DENY) == Done()
    house.kill()
    with open_history(tmp_path) as history:
        (step,) = (record for record in history.find() if record.kind == "escalated")
    assert step.data()["to"] == ["cat"]
