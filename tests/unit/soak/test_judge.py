"""The judge of a soak finds a contradiction that was planted, and none where there is none."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from crabhook.broker.messages import Refusal
from crabhook.model.actor import OWNER, Actor, Ended, Headless, Nobody, Rule
from crabhook.model.card import Leg, Origin, Stance
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import compact
from crabhook.platforms import PLATFORMS
from crabhook.store import entries
from crabhook.store.change import Answer, Change, Waiting, delivered, happened, left, settled, waits
from crabhook.store.opening import open_writer
from crabhook.store.record import Kind, Retention
from tests.soak.jobs import Job, Source
from tests.soak.judge import Case, Ending, Sitting, Trouble, broken_laws
from tests.soak.said import NOBODY, Printed
from tests.support.ledger import Ledger

NOBODY_IS_THERE = Printed(0, b"", f"{NOBODY['unreachable']}no such socket)\n".encode())
SILENCE = Printed(0, b"", b"")


@cache
def drawn() -> list[Job]:
    return Source(Random(1)).load(1500, 1)


def job(wish: str = "allow", sample: str = "PreToolUse-Bash", **changes: Any) -> Job:
    """A job of that wish, as a soak draws one."""
    found = next(
        one
        for one in drawn()
        if (one.agent, one.sample, one.wish) == ("claude", sample, wish) and one.wait > 6
    )
    return replace(found, **{"fail_closed": False, "companion": False, **changes})


ENDS = 60.0, 90.0  # when a request stops waiting, and when its hook would


def event(asked: Job) -> Event:
    return PLATFORMS[asked.agent].read(asked.payload)


def seen(asked: Job) -> Leg:
    return Leg(f"r{asked.number}", event(asked), 0)


@dataclass
class Past:
    """A record in the making, and what else there is to judge."""

    folder: Path
    changes: list[Change] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    sitting: Sitting = field(default_factory=lambda: Sitting(0))
    troubles: list[Trouble] = field(default_factory=list)
    jobs: set[int] = field(default_factory=set)

    def asks(self, one: Job) -> Leg:
        """A job is asked about on a card of its own number."""
        request = Leg(f"r{one.number}", event(one), 0, Stance.GATE, Origin())
        entry = entries.asked(request, 1.0, card=one.number, legs=[request.id], ends=ENDS)
        payload = compact(request.event.fields).encode()
        kept = Waiting(
            request.id,
            "secret",
            one.agent,
            payload,
            "gate",
            1.0,
            9.0,
            one.number,
            "h",
            1,
            "u",
            9.0,
            "",
        )
        self.changes.append(waits(kept, entry))
        self.jobs.add(one.number)
        return request

    def decides(
        self, one: Job, decision: Decision, *, typed: bool = True, by: Actor = OWNER
    ) -> None:
        """The operator, or whoever the decision says, decides a job's card."""
        reply = PLATFORMS[one.agent].write(event(one), decision)
        made, legs = Decided(decision, by), [f"r{one.number}"]
        entry = entries.decided(event(one), made, 2.0, legs=legs, waited=0.1, card=one.number)
        answer = Answer(f"r{one.number}", "secret", reply.stdout, "", reply.exit_code, 2.0, None)
        self.changes.append(settled([answer], entry))
        if typed:
            self.sitting.typed.add(one.call)

    def is_delivered(self, one: Job) -> None:
        """The record says that the hook has its answer."""
        entry = entries.delivered(event(one), 3.0, request_id=f"r{one.number}", card=one.number)
        self.changes.append(delivered(f"r{one.number}", entry, whole=True))

    def ends(self, one: Job, printed: Printed | None, seconds: float = 1.0, **how: Any) -> None:
        """The job's hook has ended."""
        self.jobs.add(one.number)
        self.endings.append(Ending(one, 100.0, 100.0 + seconds, printed, **how))

    def decided(self, one: Job, decision: Decision, by: Actor = OWNER) -> Printed:
        """All of it, as it should be; return what the hook has to print."""
        self.asks(one)
        self.decides(one, decision, by=by)
        self.is_delivered(one)
        return Printed(0, PLATFORMS[one.agent].write(event(one), decision).stdout, b"")

    def judged(self) -> list[str]:
        """What is found."""
        with closing(open_writer(self.folder, Retention(180, 10**9))) as store:
            store.write(self.changes)
        ledger = Ledger(self.folder)
        return broken_laws(Case(self.endings, ledger, [self.sitting], self.troubles, self.jobs))


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path / "state")


ALLOW = Decision(Verdict.ALLOW)
DENY = Decision(Verdict.DENY, reason="because")


def test_a_decision_that_was_typed_recorded_printed_and_confirmed_breaks_no_law(past: Past) -> None:
    one = job()
    past.ends(one, past.decided(one, ALLOW))
    other = job("deny")
    past.ends(other, past.decided(other, Decision(Verdict.DENY, reason=other.word)))
    assert past.judged() == []


def test_an_allow_that_nobody_typed_is_found(past: Past) -> None:
    one = job()
    past.asks(one)
    past.decides(one, ALLOW, typed=False)
    past.is_delivered(one)
    past.ends(one, Printed(0, PLATFORMS["claude"].write(event(one), ALLOW).stdout, b""))
    assert any("was never typed" in fault for fault in past.judged())


def test_an_allow_where_a_denial_was_typed_is_found(past: Past) -> None:
    one = job("deny")
    past.ends(one, past.decided(one, ALLOW))
    assert any("was not what was typed (deny)" in fault for fault in past.judged())


@pytest.mark.parametrize("by", [Headless(), Nobody(Ended.AWAY), Rule("Bash(*) (rules.toml)")])
def test_an_allow_that_is_nobodys_to_give_is_found(past: Past, by: Actor) -> None:
    one = job()
    past.ends(one, past.decided(one, ALLOW, by))
    assert any("is nobody's to give" in fault for fault in past.judged())


def test_an_allow_that_is_printed_and_not_on_record_is_found(past: Past) -> None:
    one = job()
    past.asks(one)
    past.changes.append(
        left(
            [f"r{one.number}"],
            entries.ended(Kind.WITHDRAWN, past.asks(one), 2.0, card=one.number, why=""),
        )
    )
    past.ends(one, Printed(0, PLATFORMS["claude"].write(event(one), ALLOW).stdout, b""))
    assert any("'allow', which nobody decided" in fault for fault in past.judged())


def test_another_answer_than_the_one_on_record_is_found(past: Past) -> None:
    one = job()
    past.decided(one, ALLOW)
    past.ends(one, Printed(0, PLATFORMS["claude"].write(event(one), DENY).stdout, b""))
    assert any("told 'deny'; on record is 'allow'" in fault for fault in past.judged())


def test_the_words_for_another_call_are_found(past: Past) -> None:
    one = job("deny")
    past.ends(one, past.decided(one, Decision(Verdict.DENY, reason="word-999999-")))
    assert any("has the words of others" in fault for fault in past.judged())


def test_an_input_that_nobody_changed_so_is_found(past: Past) -> None:
    one = job("edit")
    past.decided(one, replace(ALLOW, updated_input={"command": "echo edited"}))
    wrong = replace(ALLOW, updated_input={"command": "rm -rf /"})
    past.ends(one, Printed(0, PLATFORMS["claude"].write(event(one), wrong).stdout, b""))
    assert any("rm -rf" in fault for fault in past.judged())


def test_a_card_decided_twice_is_found(past: Past) -> None:
    one = job("twice")
    printed = past.decided(one, ALLOW)
    past.decides(one, ALLOW)
    past.ends(one, printed)
    faults = past.judged()
    assert any("was decided 2 times" in fault for fault in faults)
    assert any("has 2 ends" in fault for fault in faults)


def test_a_card_without_an_end_is_found(past: Past) -> None:
    one = job()
    past.asks(one)
    past.ends(one, SILENCE)
    faults = past.judged()
    assert any("has 0 ends" in fault for fault in faults)
    assert any("still waits" in fault for fault in faults)


def test_a_delivery_to_somebody_who_has_nothing_is_found(past: Past) -> None:
    one = job()
    past.decided(one, ALLOW)
    past.ends(one, None, killed=True)
    assert any("has no answer" in fault for fault in past.judged())


def test_a_decision_without_a_fate_is_found(past: Past) -> None:
    one = job()
    past.asks(one)
    past.decides(one, ALLOW)
    past.ends(one, None, killed=True)
    assert past.judged() == [f"r{one.number}: nothing says if it was delivered"]


def test_a_hook_that_never_ended_and_one_that_ended_twice_are_found(past: Past) -> None:
    one, other = job(), job("deny")
    past.jobs.add(one.number)
    past.ends(other, NOBODY_IS_THERE)
    past.ends(other, NOBODY_IS_THERE)
    faults = past.judged()
    assert f"job {one.number} never ended" in faults
    assert f"job {other.number} ended 2 times" in faults


def test_a_hook_that_waits_beyond_its_limit_is_found(past: Past) -> None:
    one = job()
    past.ends(one, NOBODY_IS_THERE, seconds=one.wait + 60)
    assert any("at most" in fault for fault in past.judged())


def test_a_hook_that_finds_nobody_while_nothing_is_amiss_is_found(past: Past) -> None:
    one = job()
    past.ends(one, NOBODY_IS_THERE)
    assert any("while nothing was amiss" in fault for fault in past.judged())


def test_a_hook_that_was_answered_at_the_agent_is_found_where_the_record_knows_nothing_of_it(
    past: Past,
) -> None:
    told = f"{NOBODY['lost']}ALREADY_EXISTS, h:1: {Refusal.OVER}); more\n".encode()
    past.ends(job(), Printed(0, b"", told))
    assert any("while nothing was amiss" in fault for fault in past.judged())


@pytest.mark.parametrize(("remote", "found"), [(True, False), (False, True)])
def test_a_cut_excuses_only_those_on_the_other_side(past: Past, remote: bool, found: bool) -> None:
    one = job(remote=remote)
    past.troubles.append(Trouble("cut", 99.0, 101.0, remote_only=True))
    past.ends(one, NOBODY_IS_THERE)
    assert bool(past.judged()) is found


def test_one_slow_greeting_is_the_machines_and_three_are_found(past: Past) -> None:
    slow = Printed(0, b"", f"{NOBODY['unreachable']}h:1: no answer in time); more\n".encode())
    past.ends(job(number=1), slow, seconds=5.1)
    assert past.judged() == []
    past.ends(job(number=2), slow, seconds=5.1)
    past.ends(job(number=3), slow, seconds=5.1)
    assert past.judged() == ["jobs [1, 2, 3] were not greeted in time while nothing was amiss"]


def test_a_server_that_turns_most_away_is_found(past: Past) -> None:
    past.troubles.append(Trouble("no server", 99.0, 101.0))
    for number in range(200):
        past.ends(job(number=number), NOBODY_IS_THERE)
    assert past.judged() == ["of 200 hooks 200 found nobody, more than 25%"]


def test_a_hook_that_was_to_deny_and_says_nothing_is_found(past: Past) -> None:
    one = job(fail_closed=True)
    past.troubles.append(Trouble("no server", 99.0, 101.0))
    past.ends(one, NOBODY_IS_THERE)
    assert any("its own way is 'deny', and it said ''" in fault for fault in past.judged())


@pytest.mark.parametrize(
    "printed",
    [
        Printed(1, b"", b""),
        Printed(0, b"no JSON", b""),
        Printed(0, b"[]", b""),
        Printed(-11, b"", b""),
    ],
)
def test_what_no_agent_can_read_is_found(past: Past, printed: Printed) -> None:
    one = job()
    past.changes.append(happened(entries.observed(seen(one), 1.0)))
    past.ends(one, printed)
    assert any("cannot be read" in fault for fault in past.judged())


def test_what_was_only_seen_is_answered_with_silence(past: Past) -> None:
    one = job("", "Notification")
    past.changes.append(happened(entries.observed(seen(one), 1.0)))
    past.ends(one, SILENCE)
    assert past.judged() == []


def test_a_record_that_somebody_changed_is_found(past: Past) -> None:
    one = job()
    past.ends(one, past.decided(one, ALLOW))
    assert past.judged() == []
    with closing(sqlite3.connect(past.folder / "record.db")) as database, database:
        for (trigger,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute("UPDATE record SET verdict = 'deny' WHERE kind = 'decided'")
    case = Case(past.endings, Ledger(past.folder), [past.sitting], past.troubles, past.jobs)
    assert any("the chain" in fault for fault in broken_laws(case))


def of_the_call(asked: Job, other: Job) -> Event:
    """The job's event, about the call of another's."""
    return replace(event(asked), tool=event(other).tool)


def leaves(past: Past, one: Job) -> None:
    """The job's hook goes from its card, on record."""
    request = Leg(f"r{one.number}", event(one), 0)
    gone = entries.ended(Kind.LEFT, request, 2.0, card=one.number, why="the hook had gone")
    past.changes.append(left([request.id], gone))


def test_a_hook_that_left_the_other_of_its_call_is_no_fault(past: Past) -> None:
    one, second = job(), job("deny")
    past.asks(one)
    request = Leg(f"r{second.number}", of_the_call(second, one), 0)
    legs = [f"r{one.number}", request.id]
    also = entries.asked(request, 1.0, card=one.number, legs=legs, ends=ENDS)
    past.changes.append(happened(also))
    gone = entries.ended(Kind.LEFT, request, 2.0, card=one.number, why="the hook had gone")
    past.changes.append(left([request.id], gone))
    past.decides(one, ALLOW)
    past.is_delivered(one)
    stdout = PLATFORMS[one.agent].write(event(one), ALLOW).stdout
    past.ends(one, Printed(0, stdout, b""))
    assert past.judged() == []


def test_a_hook_that_leaves_twice_is_found(past: Past) -> None:
    one = job()
    past.asks(one)
    leaves(past, one)
    leaves(past, one)
    assert any("which it was not on" in fault for fault in past.judged())


def test_a_decision_for_a_hook_that_had_left_is_found(past: Past) -> None:
    one = job()
    past.asks(one)
    leaves(past, one)
    past.decides(one, ALLOW)
    assert any("was decided for" in fault for fault in past.judged())


def test_a_request_that_never_ends_is_found(past: Past) -> None:
    past.asks(job())
    assert any("never ended" in fault and "requests" in fault for fault in past.judged())
