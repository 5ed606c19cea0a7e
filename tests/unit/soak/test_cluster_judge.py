"""The judge of a cluster finds each contradiction that is planted, and none where there is none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Actor, Ended, Nobody, Operator, RuleActor
from crabhook.model.decision import Decision
from crabhook.store.record import RecordKind
from tests.soak.cluster.history import Given, Heard, Histories, HookEnd, Straggler, Trouble
from tests.soak.cluster.judge import (
    LAWS,
    allowed_by_somebody,
    at_the_leader,
    few_gaps,
    not_in_vain,
    on_record_before,
    once,
    one_end_each,
    one_reply_each,
    printed_rightly,
    tailed,
    watched,
)
from tests.soak.cluster.schedule import FAULTS, drawn
from tests.soak.judge import LAWS as SHARED
from tests.support import planted
from tests.support.planted import ALLOW, DENY, Garden, Law, job, nobody, reply

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.soak.jobs import Job
    from tests.soak.said import Printed

pytestmark = pytest.mark.thorough

ANN = Operator("o-ann", "ann", "ann's", "10.78.0.5", "admin")
COMMITTED, PRINTED, GIVEN = 100.0, 100.5, 99.0  # wall seconds, of every record, hook and desk
LEADER, OTHER = "10.78.0.2", "10.78.0.3"


@dataclass
class Past(planted.Past):
    """What a cluster's clients saw, all of which agrees until a planting spoils it."""

    hooks: list[HookEnd] = field(default_factory=list)
    given: dict[str, Given] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)
    stragglers: list[Straggler] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    tail: list[tuple[int, str]] | None = None
    unseen: RecordKind | None = None
    """Records that the reader of the record did not see come."""
    late: float = 0.0

    def decides(self, asked: Job, decision: Decision = ALLOW, by: Actor = ANN) -> None:
        """A job's card is decided, and its hook has the answer."""
        self.on_record(asked, decision, by)
        self.is_delivered(asked)

    def ends(self, asked: Job, printed: Printed | None = None, *replies: tuple[str, str]) -> None:
        """The job's hook has ended."""
        self.started.add(asked.number)
        end = HookEnd(
            asked, 10.0, 12.0, PRINTED, printed or reply(asked), replies or ((LEADER, "x"),)
        )
        self.hooks.append(end)

    def gives(self, asked: Job, verdict: str = "allow", outcome: str = "Done") -> None:
        """Ann gives a decision at her desk."""
        given = Given("ann", "a", asked.number, asked.number, verdict, GIVEN, outcome)
        self.given[f"c{len(self.given)}"] = given

    def answers(self, *jobs: Job, part: str = "") -> None:
        """All of it for some jobs, as it should be, and a watcher heard of it."""
        self.hears("hello", part=part)
        self.hears("snapshot_end")
        for asked in jobs:
            self.asks(asked)
            self.gives(asked)
            self.decides(asked)
            self.ends(asked)
            self.hears("card", asked, "waiting")
            self.hears("card", asked, "decided")

    def hears(self, news: str, about: Job | None = None, state: str = "", part: str = "") -> None:
        """The watcher hears a piece of news."""
        number, place = about.number if about else 0, len(self.heard) + 1
        self.heard.append(Heard("a", 1, news, place, number, state, part=part))

    def case(self) -> Histories:
        """All there is to judge."""
        ledger = self.ledger()
        seen = [
            (record.seq, record.hash.hex())
            for record in ledger.records
            if record.kind != self.unseen
        ]
        return Histories(
            ledger,
            {record.seq: COMMITTED + self.late for record in ledger.records},
            self.hooks,
            self.started,
            self.given,
            self.heard,
            seen if self.tail is None else self.tail,
            self.stragglers,
            LEADER,
            self.troubles,
        )


# The laws that a soak of a server has as well are planted in test_judge.py.
GARDEN = Garden[Past](*(law for law in LAWS if law not in SHARED))
breaks, agrees = GARDEN.breaks, GARDEN.agrees
FIRST, SECOND = job(), job(at=1)


@agrees
def what_agrees(past: Past) -> None:
    past.answers(FIRST, SECOND)
    past.stragglers.append(Straggler(SECOND.number, LEADER, taken=True))


@agrees
def the_same_reply_given_again(past: Past) -> None:
    past.answers(FIRST)
    past.hooks.clear()
    past.ends(FIRST, None, (LEADER, "x"), (OTHER, "x"))


@agrees
def a_rules_own_allow(past: Past) -> None:
    ruled = job("ruled-allow")
    past.asks(ruled)
    past.decides(ruled, by=RuleActor("Bash(echo ruled-allow *)"))
    past.ends(ruled)


@agrees
def a_hook_that_found_nobody_in_a_fault(past: Past) -> None:
    past.troubles.append(Trouble("kill both", 5.0, 9.0))
    past.ends(FIRST, nobody("unreachable"))


@agrees
def a_watch_that_begins_anew_and_misses_what_was_between(past: Past) -> None:
    past.answers(FIRST, SECOND)
    past.heard[3:4] = [Heard("a", 2, "hello", 1), Heard("a", 2, "snapshot_end", 2)]


@agrees
def a_leaders_gap_that_misses_what_came_before_its_snapshot(past: Past) -> None:
    past.answers(FIRST, SECOND, part="leader")
    past.heard[2:5] = [Heard("a", 1, "gap"), Heard("a", 1, "snapshot_end", 5)]


@agrees
def gaps_that_two_faults_can_bring(past: Past) -> None:
    past.answers(FIRST)
    past.heard[:0] = [Heard("a", 1, "gap")] * 4
    past.troubles += [Trouble("kill the leader", began, began + 4.0) for began in (5.0, 15.0)]


@breaks(few_gaps, "the watcher of a was told of 4 gaps, more than 3")
def more_gaps_than_a_fault_can_bring(past: Past) -> None:
    gaps_that_two_faults_can_bring(past)
    del past.troubles[1:]


@breaks(one_reply_each, "was given more than one reply")
def a_second_reply_under_a_ticket(past: Past) -> None:
    past.answers(FIRST)
    past.hooks.clear()
    past.ends(FIRST, None, (LEADER, "x"), (OTHER, "y"))


@breaks(on_record_before, "printed its allow 0.200 s before record 2")
def an_allow_printed_before_it_was_on_record(past: Past) -> None:
    past.answers(FIRST)
    past.late = PRINTED - COMMITTED + 0.2


@breaks(on_record_before, "printed an allow that is not on record")
@breaks(printed_rightly, "which nobody decided")
def an_allow_printed_that_is_on_no_record(past: Past) -> None:
    past.answers(FIRST)
    past.ends(SECOND)


@breaks(printed_rightly, "was told 'deny'; on record is 'allow'")
def a_decision_that_was_printed_as_another(past: Past) -> None:
    past.answers(FIRST)
    past.hooks.clear()
    past.ends(FIRST, reply(FIRST, DENY))


@breaks(allowed_by_somebody, "is nobody's to give")
def an_allow_from_silence(past: Past) -> None:
    past.asks(FIRST)
    past.decides(FIRST, by=Nobody(Ended.AWAY))
    past.ends(FIRST)


@breaks(allowed_by_somebody, "was given at no desk by then")
def an_allow_that_no_desk_gave(past: Past) -> None:
    past.answers(FIRST)
    past.given.clear()


@breaks(allowed_by_somebody, "was given at no desk by then, but 0.100 s later")
def an_allow_that_was_given_only_later(past: Past) -> None:
    past.answers(FIRST)
    past.given["c0"].at = COMMITTED + 0.1


@breaks(allowed_by_somebody, "was given at no desk by then")
def an_allow_where_a_denial_was_given(past: Past) -> None:
    past.answers(FIRST)
    past.given["c0"].verdict, past.given["c0"].outcome = "deny", ""


@breaks(once, "ann was told that deny is done; it is not on record")
def an_outcome_that_is_not_on_record(past: Past) -> None:
    past.answers(FIRST)
    past.gives(FIRST, "deny")


@breaks(not_in_vain, "and was lost: lost")
def a_hook_that_waited_and_was_lost_whatever_was_amiss(past: Past) -> None:
    past.troubles.append(Trouble("kill the leader", 9.0, 13.0))
    past.ends(FIRST, nobody("lost"))


@breaks(not_in_vain, "found nobody while nothing was amiss")
def a_hook_that_found_nobody(past: Past) -> None:
    past.ends(FIRST, nobody("unreachable"))


@breaks(one_end_each, "never ended")
def a_hook_that_never_ended(past: Past) -> None:
    past.started.add(9999)


@breaks(at_the_leader, "job 7 was taken by nobody")
def a_hook_whose_request_nobody_has_after_the_last_fault(past: Past) -> None:
    past.stragglers.append(Straggler(7, LEADER, taken=False))


@breaks(at_the_leader, f"waits at {OTHER} after the last fault")
def a_hook_that_waits_at_another_server_than_the_leader(past: Past) -> None:
    past.stragglers.append(Straggler(7, OTHER, taken=True))


@breaks(watched, "missing")
def news_that_a_standbys_watcher_missed(past: Past) -> None:
    past.answers(FIRST, SECOND, part="standby")
    del past.heard[3]


@breaks(watched, "out of order")
def news_out_of_the_records_order(past: Past) -> None:
    past.answers(FIRST, SECOND)
    past.heard[2:4], past.heard[4:6] = past.heard[4:6], past.heard[2:4]
    past.heard = [replace(news, seq=place) for place, news in enumerate(past.heard, 1)]


@breaks(watched, "missing")
def news_missed_after_the_snapshot_of_a_gap(past: Past) -> None:
    past.answers(FIRST, SECOND)
    past.heard[2:3] = [Heard("a", 1, "gap"), Heard("a", 1, "snapshot_end", 3)]
    del past.heard[5]


@breaks(watched, "missing")
def news_missed_after_a_gap_that_only_begins_a_leaders_watch(past: Past) -> None:
    past.answers(FIRST, SECOND)
    past.heard[1:1] = [Heard("a", 1, "gap")]
    del past.heard[4]


@breaks(watched, "missing")
def news_missed_in_a_watch_that_goes_on(past: Past) -> None:
    past.answers(FIRST, SECOND)
    past.heard[3:4] = [Heard("a", 2, "hello", 4, resumed=True)]


@breaks(watched, "which is not on record")
def news_that_are_not_on_record(past: Past) -> None:
    past.answers(FIRST)
    past.hears("card", SECOND, "waiting")


@breaks(watched, "came after")
def news_with_a_number_of_before(past: Past) -> None:
    past.answers(FIRST)
    past.heard[-1] = replace(past.heard[-1], seq=past.heard[-2].seq)


@breaks(tailed, "record 1 was seen, and is another now")
def a_record_that_is_another_now(past: Past) -> None:
    past.answers(FIRST)
    past.tail = [(1, "00" * 32)]


@breaks(tailed, "record 9 was seen, and is gone now")
def a_record_that_is_gone_now(past: Past) -> None:
    past.answers(FIRST)
    past.tail = [(9, "00" * 32)]


@breaks(tailed, "record 3 was seen to come after record 1")
def records_that_came_with_a_gap(past: Past) -> None:
    past.answers(FIRST)
    past.unseen = RecordKind.DECIDED


@pytest.mark.parametrize(("plant", "law", "words"), GARDEN.parameters())
def test_the_judge_finds_what_is_planted_and_nothing_where_all_agrees(
    plant: Callable[[Past], None], law: Law | None, words: str, tmp_path: Path
) -> None:
    past = Past(tmp_path / "state")
    plant(past)
    GARDEN.check(past.case(), law, words)


def test_every_law_is_seen_broken() -> None:
    assert GARDEN.unplanted() == set()


def test_a_seed_has_a_schedule_of_its_own_and_a_long_run_has_every_fault() -> None:
    assert drawn(7, 10) == drawn(7, 10)
    assert drawn(7, 10) != drawn(8, 10)
    assert {act.kind for act in drawn(7, 10)} == set(FAULTS)
    assert sum(act.after + act.seconds for act in drawn(7, 2)) < 120
