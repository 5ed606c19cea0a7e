"""The judge of a cluster finds each contradiction that is planted, and none where there is none."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random

import pytest

from crabhook.model.actor import Actor, Ended, Nobody, Operator, Rule
from crabhook.model.card import Leg, Origin, Stance
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import compact
from crabhook.platforms import PLATFORMS
from crabhook.store import entries
from crabhook.store.change import Answer, Change, Waiting, delivered, settled, waits
from crabhook.store.opening import open_writer
from crabhook.store.record import Kind, Retention
from tests.soak.cluster.history import Given, Heard, Histories, HookEnd, Straggler, Trouble
from tests.soak.cluster.judge import broken_laws
from tests.soak.cluster.schedule import FAULTS, drawn
from tests.soak.jobs import Job, Source
from tests.soak.said import NOBODY, Printed
from tests.support.ledger import Ledger

ANN = Operator("o-ann", "ann", "ann's", "10.78.0.5", "admin")
ALLOW = Decision(Verdict.ALLOW)
COMMITTED, PRINTED, GIVEN = 100.0, 100.5, 99.0  # wall seconds, of every record, hook and desk
LEADER, OTHER = "10.78.0.2", "10.78.0.3"


@cache
def drawn_jobs() -> list[Job]:
    return Source(Random(1)).load(1500, 1, patient=True)


def job(number: int, wish: str = "allow") -> Job:
    """A job of that wish, the so manieth that a soak draws."""
    fits = [
        one
        for one in drawn_jobs()
        if (one.agent, one.sample, one.wish) == ("claude", "PreToolUse-Bash", wish)
    ]
    return replace(fits[number], companion=False, fail_closed=False)


def event(one: Job) -> Event:
    return PLATFORMS[one.agent].read(one.payload)


def reply(one: Job, decision: Decision = ALLOW) -> Printed:
    return Printed(0, PLATFORMS[one.agent].write(event(one), decision).stdout, b"")


@dataclass
class Past:
    """What a cluster's clients saw, all of which agrees until a test spoils it."""

    folder: Path
    changes: list[Change] = field(default_factory=list)
    hooks: list[HookEnd] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)
    given: dict[str, Given] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)
    stragglers: list[Straggler] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    tail: list[tuple[int, str]] | None = None
    late: float = 0.0

    def asks(self, one: Job) -> None:
        request = Leg(f"r{one.number}", event(one), 0, Stance.GATE, Origin())
        ends = (60.0, 90.0)
        entry = entries.asked(request, 1.0, card=one.number, legs=[request.id], ends=ends)
        payload = compact(request.event.fields).encode()
        times = ("gate", 1.0, 9.0, one.number, "h", 1, "u", 9.0, "")
        self.changes.append(waits(Waiting(request.id, "s", one.agent, payload, *times), entry))
        self.asked.add(one.number)

    def decides(self, one: Job, decision: Decision = ALLOW, by: Actor = ANN) -> None:
        legs = [f"r{one.number}"]
        made = Decided(decision, by)
        entry = entries.decided(event(one), made, 2.0, legs=legs, waited=0.1, card=one.number)
        answer = Answer(legs[0], "s", reply(one, decision).stdout, "", 0, 2.0, None)
        self.changes.append(settled([answer], entry))
        told = entries.delivered(event(one), 3.0, request_id=legs[0], card=one.number)
        self.changes.append(delivered(legs[0], told, whole=True))

    def ends(self, one: Job, printed: Printed | None = None, *replies: tuple[str, str]) -> None:
        self.asked.add(one.number)
        told = printed or reply(one)
        self.hooks.append(HookEnd(one, 10.0, 12.0, PRINTED, told, replies or ((LEADER, "x"),)))

    def gives(self, one: Job, verdict: str = "allow", outcome: str = "Done") -> None:
        given = Given("ann", "a", one.number, one.number, verdict, GIVEN, outcome)
        self.given[f"c{len(self.given)}"] = given

    def answers(self, *jobs: Job) -> None:
        """All of it for some jobs, as it should be, and a watcher heard of it."""
        self.hears("hello")
        self.hears("snapshot_end")
        for one in jobs:
            self.asks(one)
            self.gives(one)
            self.decides(one)
            self.ends(one)
            self.hears("card", one, "waiting")
            self.hears("card", one, "decided")

    def hears(self, news: str, one: Job | None = None, state: str = "", **more: bool) -> None:
        number = one.number if one else 0
        self.heard.append(Heard("a", 1, news, len(self.heard) + 1, number, state, **more))

    def judged(self) -> list[str]:
        """What is found."""
        with closing(open_writer(self.folder, Retention(180, 10**9))) as store:
            store.write(self.changes)
        ledger = Ledger(self.folder)
        seen = [(record.seq, record.hash.hex()) for record in ledger.records]
        committed = {record.seq: COMMITTED + self.late for record in ledger.records}
        return broken_laws(
            Histories(
                ledger,
                committed,
                self.hooks,
                self.asked,
                self.given,
                self.heard,
                seen if self.tail is None else self.tail,
                self.stragglers,
                LEADER,
                self.troubles,
            )
        )

    def finds(self, words: str) -> bool:
        """Whether just this is found: every fault is about it."""
        found = self.judged()
        return bool(found) and all(words in fault for fault in found)


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path / "state")


def nobody(kind: str) -> Printed:
    return Printed(0, b"", f"{NOBODY[kind]}10.78.0.2:7443: no)\n".encode())


def test_what_agrees_breaks_no_law(past: Past) -> None:
    past.answers(job(0), job(1))
    past.stragglers.append(Straggler(job(1).number, LEADER, taken=True))
    assert past.judged() == []


def test_a_second_reply_under_one_ticket_is_found(past: Past) -> None:
    one = job(0)
    past.answers(one)
    past.hooks = []
    past.ends(one, None, (LEADER, "x"), (OTHER, "y"))
    assert past.finds("was given more than one reply")


def test_the_same_reply_given_once_more_is_none(past: Past) -> None:
    one = job(0)
    past.answers(one)
    past.hooks = []
    past.ends(one, None, (LEADER, "x"), (OTHER, "x"))
    assert past.judged() == []


def test_an_allow_printed_before_it_was_on_record_is_found(past: Past) -> None:
    past.answers(job(0))
    past.late = PRINTED - COMMITTED + 0.2
    assert past.finds("printed its allow 0.200 s before record 2")


def test_an_allow_printed_that_is_on_no_record_is_found(past: Past) -> None:
    past.answers(job(0))
    past.ends(job(1))
    found = past.judged()
    assert any("printed an allow that is not on record" in fault for fault in found)
    assert any("which nobody decided" in fault for fault in found)


@pytest.mark.parametrize("by", [Nobody(Ended.AWAY), Rule("Bash(*) (rules.toml)")])
def test_an_allow_from_silence_is_found(past: Past, by: Actor) -> None:
    one = job(0)
    past.asks(one)
    past.decides(one, by=by)
    past.ends(one)
    assert past.finds("is nobody's to give")


def test_a_rules_own_allow_is_none(past: Past) -> None:
    one = job(0, "ruled-allow")
    past.asks(one)
    past.decides(one, by=Rule("Bash(echo ruled-allow *)"))
    past.ends(one)
    assert past.judged() == []


def test_an_allow_that_no_desk_gave_is_found(past: Past) -> None:
    past.answers(job(0))
    past.given = {}
    assert past.finds("was given at no desk by then")


def test_an_allow_that_was_given_only_later_is_found(past: Past) -> None:
    past.answers(job(0))
    past.given["c0"].at = COMMITTED + 0.1
    assert past.finds("was given at no desk by then")


def test_an_allow_where_a_denial_was_given_is_found(past: Past) -> None:
    past.answers(job(0))
    past.given["c0"].verdict, past.given["c0"].outcome = "deny", ""
    assert past.finds("was given at no desk by then")


def test_what_a_desk_was_told_is_done_and_is_not_on_record_is_found(past: Past) -> None:
    past.answers(job(0))
    past.gives(job(0), "deny")
    assert past.finds("ann was told that deny is done; it is not on record")


def test_a_card_that_was_decided_twice_is_found(past: Past) -> None:
    past.answers(job(0))
    past.decides(job(0))
    assert any("was decided 2 times" in fault for fault in past.judged())


def test_a_decision_that_was_printed_as_another_is_found(past: Past) -> None:
    one = job(0)
    past.answers(one)
    past.hooks = []
    past.ends(one, reply(one, Decision(Verdict.DENY, reason="no")))
    assert past.finds("was told 'deny'; on record is 'allow'")


@pytest.mark.parametrize("kind", ["lost", "late"])
def test_a_hook_that_waited_and_was_lost_is_found_whatever_was_amiss(past: Past, kind: str) -> None:
    past.troubles.append(Trouble("kill the leader", 9.0, 13.0))
    past.ends(job(0), nobody(kind))
    assert past.finds("and was lost")


def test_a_hook_that_found_nobody_is_excused_by_a_fault_alone(past: Past) -> None:
    past.ends(job(0), nobody("unreachable"))
    assert past.finds("found nobody while nothing was amiss")
    past.troubles.append(Trouble("kill both", 5.0, 9.0))
    past.folder = past.folder.with_name("again")
    assert past.judged() == []


def test_a_hook_that_never_ended_or_ended_twice_is_found(past: Past) -> None:
    past.answers(job(0))
    past.asked.add(9999)
    past.ends(job(0))
    assert past.judged() == [f"job {job(0).number} ended 2 times", "job 9999 never ended"]


def test_a_hook_whose_request_nobody_has_after_the_last_fault_is_found(past: Past) -> None:
    past.stragglers.append(Straggler(7, LEADER, taken=False))
    assert past.finds("job 7 was taken by nobody")


def test_a_hook_that_waits_at_another_than_the_leader_is_found(past: Past) -> None:
    past.stragglers.append(Straggler(7, OTHER, taken=True))
    assert past.finds(f"waits at {OTHER} after the last fault")


def test_a_request_that_still_waits_in_the_record_is_found(past: Past) -> None:
    past.answers(job(0))
    past.asks(job(1))
    past.ends(job(1), Printed(0, b"", b""))
    assert any("still waits" in fault for fault in past.judged())


@pytest.mark.parametrize("part", ["leader", "standby"])
def test_news_that_a_watcher_missed_are_found(past: Past, part: str) -> None:
    past.answers(job(0), job(1))
    past.heard[0] = replace(past.heard[0], part=part)
    del past.heard[3]
    assert past.finds("missing")


@pytest.mark.parametrize("part", ["leader", "standby"])
def test_news_out_of_the_records_order_are_found(past: Past, part: str) -> None:
    past.answers(job(0), job(1))
    past.heard[0] = replace(past.heard[0], part=part)
    past.heard[2:4], past.heard[4:6] = past.heard[4:6], past.heard[2:4]
    past.heard = [replace(one, seq=place) for place, one in enumerate(past.heard, 1)]
    assert past.finds("out of order") or past.finds("missing")


@pytest.mark.parametrize("part", ["leader", "standby"])
def test_a_gap_that_is_said_lets_what_came_before_its_snapshot_be_missed(
    past: Past, part: str
) -> None:
    past.answers(job(0), job(1))
    past.heard[0] = replace(past.heard[0], part=part)
    past.heard[2:5] = [Heard("a", 1, "gap"), Heard("a", 1, "snapshot_end", 5)]
    assert past.judged() == []


@pytest.mark.parametrize("part", ["leader", "standby"])
def test_after_the_snapshot_of_a_gap_nothing_may_be_missed(past: Past, part: str) -> None:
    past.answers(job(0), job(1))
    past.heard[0] = replace(past.heard[0], part=part)
    past.heard[2:3] = [Heard("a", 1, "gap"), Heard("a", 1, "snapshot_end", 3)]
    del past.heard[5]
    assert past.finds("missing")


def test_a_gap_that_only_begins_a_leaders_watch_lets_nothing_be_missed(past: Past) -> None:
    past.answers(job(0), job(1))
    past.heard[1:1] = [Heard("a", 1, "gap")]
    del past.heard[4]
    assert past.finds("missing")


def test_more_gaps_than_faults_can_bring_are_found(past: Past) -> None:
    past.answers(job(0))
    past.heard[:0] = [Heard("a", 1, "gap")] * 4
    past.troubles.append(Trouble("kill the leader", 5.0, 9.0))
    assert past.finds("the watcher of a was told of 4 gaps, more than 3")
    past.troubles.append(Trouble("kill the leader", 15.0, 19.0))
    past.folder = past.folder.with_name("again")
    assert past.judged() == []


@pytest.mark.parametrize("part", ["leader", "standby"])
def test_news_that_are_not_on_record_are_found(past: Past, part: str) -> None:
    past.answers(job(0))
    past.heard[0] = replace(past.heard[0], part=part)
    past.hears("card", job(1), "waiting")
    assert past.finds("which is not on record")


def test_news_with_a_number_of_before_are_found(past: Past) -> None:
    past.answers(job(0))
    past.heard[-1] = replace(past.heard[-1], seq=past.heard[-2].seq)
    assert past.finds("came after")


def test_a_watch_that_begins_anew_may_miss_what_was_between(past: Past) -> None:
    past.answers(job(0), job(1))
    past.heard[3:4] = [Heard("a", 2, "hello", 1), Heard("a", 2, "snapshot_end", 2)]
    assert past.judged() == []


def test_a_watch_that_goes_on_may_not(past: Past) -> None:
    past.answers(job(0), job(1))
    past.heard[3:4] = [Heard("a", 2, "hello", 4, resumed=True)]
    assert past.finds("missing")


def test_a_record_that_was_seen_and_is_gone_or_another_is_found(past: Past) -> None:
    past.answers(job(0))
    past.tail = [(1, "00" * 32)]
    assert past.finds("record 1 was seen, and is another now")
    past.folder = past.folder.with_name("again")
    past.tail = [(9, "00" * 32)]
    assert past.finds("record 9 was seen, and is gone now")


def test_records_that_came_with_a_gap_are_found(past: Past) -> None:
    past.answers(job(0))
    with closing(open_writer(past.folder, Retention(180, 10**9))) as store:
        store.write(past.changes)
    past.changes = []
    records = Ledger(past.folder).records
    past.tail = [(one.seq, one.hash.hex()) for one in records if one.kind != Kind.DECIDED]
    assert past.finds("record 3 was seen to come after record 1")


def test_a_seed_has_one_schedule_and_a_long_one_has_every_fault() -> None:
    assert drawn(7, 10) == drawn(7, 10)
    assert drawn(7, 10) != drawn(8, 10)
    assert {act.kind for act in drawn(7, 10)} == set(FAULTS)
    assert sum(act.after + act.seconds for act in drawn(7, 2)) < 120
