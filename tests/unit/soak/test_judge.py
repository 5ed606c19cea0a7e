"""The judge of a soak finds a contradiction that was planted, and none where there is none."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.broker.messages import Refusal
from crabhook.model.actor import OWNER, Actor, Ended, Nobody, RuleActor
from crabhook.model.card import Leg
from crabhook.model.decision import Decision, Verdict
from crabhook.store import entries
from crabhook.store.change import happened, left
from crabhook.store.record import RecordKind
from tests.soak.ends import final_states, of_the_record, requests_end
from tests.soak.judge import (
    LAWS,
    Case,
    Ending,
    Sitting,
    Trouble,
    decided_by_somebody,
    deliveries,
    few_without_answer,
    in_time,
    one_end_each,
    printed_rightly,
    unanswered_for_a_reason,
)
from tests.soak.said import Printed
from tests.support import planted
from tests.support.planted import (
    ALLOW,
    DENY,
    ENDS,
    SILENCE,
    Garden,
    Law,
    event,
    job,
    nobody,
    reply,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.soak.jobs import Job

pytestmark = pytest.mark.thorough


@dataclass
class Past(planted.Past):
    """A record in the making, and what else there is to judge."""

    endings: list[Ending] = field(default_factory=list)
    sitting: Sitting = field(default_factory=lambda: Sitting(0))
    troubles: list[Trouble] = field(default_factory=list)

    def decides(
        self, asked: Job, decision: Decision = ALLOW, *, typed: bool = True, by: Actor = OWNER
    ) -> None:
        """The operator, or the actor that is named, decides a job's card."""
        self.on_record(asked, decision, by)
        if typed:
            self.sitting.typed.add(asked.call)

    def ends(self, asked: Job, printed: Printed | None, seconds: float = 1.0, **how: Any) -> None:
        """The job's hook has ended."""
        self.started.add(asked.number)
        self.endings.append(Ending(asked, 100.0, 100.0 + seconds, printed, **how))

    def answers(
        self, asked: Job, decision: Decision = ALLOW, printed: Printed | None = None, **how: Any
    ) -> None:
        """All of it, from the card to the hook's end, which prints the decision unless told so."""
        self.asks(asked)
        self.decides(asked, decision, **how)
        self.is_delivered(asked)
        self.ends(asked, printed or reply(asked, decision))

    def leaves(self, asked: Job) -> None:
        """The job's hook goes from its card, on record."""
        self.gone(RecordKind.LEFT, Leg(f"r{asked.number}", event(asked), 0), asked.number)

    def gone(self, kind: RecordKind, request: Leg, card: int) -> None:
        """A request is on its card no more."""
        self.changes.append(
            left([request.id], entries.ended(kind, request, 2.0, card=card, why=""))
        )

    def case(self) -> Case:
        """All there is to judge."""
        return Case(self.endings, self.ledger(), [self.sitting], self.troubles, self.started)


GARDEN = Garden[Past](*LAWS)
breaks, agrees = GARDEN.breaks, GARDEN.agrees


@agrees
def decisions_that_were_typed_recorded_printed_and_confirmed(past: Past) -> None:
    past.answers(job())
    past.answers(job("deny"), Decision(Verdict.DENY, reason=job("deny").word))


@agrees
def a_hook_that_left_the_other_hook_of_its_call(past: Past) -> None:
    asked, second = job(), job("deny")
    past.asks(asked)
    same_call = replace(event(second), tool=event(asked).tool)
    request = Leg(f"r{second.number}", same_call, 0)
    legs = [f"r{asked.number}", request.id]
    entry = entries.asked(request, 1.0, card=asked.number, legs=legs, ends=ENDS)
    past.changes.append(happened(entry))
    past.gone(RecordKind.LEFT, request, asked.number)
    past.decides(asked)
    past.is_delivered(asked)
    past.ends(asked, reply(asked))


@agrees
def an_event_that_was_only_seen_and_answered_with_silence(past: Past) -> None:
    asked = job("", sample="Notification")
    past.changes.append(happened(entries.observed(Leg("r", event(asked), 0), 1.0)))
    past.ends(asked, SILENCE)


@agrees
def a_cut_that_excuses_a_hook_on_its_other_side(past: Past) -> None:
    past.troubles.append(Trouble("cut", 99.0, 101.0, remote_only=True))
    past.ends(job(remote=True), nobody("unreachable"))


@agrees
def a_single_slow_greeting_which_is_the_machines(past: Past) -> None:
    past.ends(job(), nobody("unreachable", "h:1: no answer in time"), seconds=5.1)


@breaks(few_without_answer, "were not greeted in time while nothing was amiss")
def three_slow_greetings(past: Past) -> None:
    for number in (1, 2, 3):
        slow = nobody("unreachable", "h:1: no answer in time")
        past.ends(job(number=number), slow, seconds=5.1)


@breaks(few_without_answer, "of 200 hooks 200 found nobody, more than 25%")
def a_server_that_turns_most_away(past: Past) -> None:
    past.troubles.append(Trouble("no server", 99.0, 101.0))
    for number in range(200):
        past.ends(job(number=number), nobody("unreachable"))


@breaks(decided_by_somebody, "was never typed")
def an_allow_that_nobody_typed(past: Past) -> None:
    past.answers(job(), typed=False)


@breaks(decided_by_somebody, "was not what was typed (deny)")
def an_allow_where_a_denial_was_typed(past: Past) -> None:
    past.answers(job("deny"))


@breaks(decided_by_somebody, "has the words of others")
def the_words_for_another_call(past: Past) -> None:
    past.answers(job("deny"), Decision(Verdict.DENY, reason="word-999999-"))


@breaks(decided_by_somebody, "is nobody's to give")
def an_allow_because_nobody_was_there(past: Past) -> None:
    past.answers(job(), by=Nobody(Ended.AWAY))


@breaks(decided_by_somebody, "is nobody's to give")
def an_allow_by_a_rule_that_is_not_the_soaks(past: Past) -> None:
    past.answers(job(), by=RuleActor("Bash(*) (rules.toml)"))


@breaks(printed_rightly, "'allow', which nobody decided")
def an_allow_that_is_printed_and_not_on_record(past: Past) -> None:
    asked = job()
    past.gone(RecordKind.WITHDRAWN, past.asks(asked), asked.number)
    past.ends(asked, reply(asked))


@breaks(printed_rightly, "told 'deny'; on record is 'allow'")
def another_answer_than_is_on_record(past: Past) -> None:
    past.answers(job(), printed=reply(job(), DENY))


@breaks(printed_rightly, "rm -rf")
def an_input_that_nobody_changed_so(past: Past) -> None:
    edited = replace(ALLOW, updated_input={"command": "echo edited"})
    other = replace(ALLOW, updated_input={"command": "rm -rf /"})
    past.answers(job("edit"), edited, reply(job("edit"), other))


@breaks(printed_rightly, "its own way is 'deny', and it said ''")
def a_hook_that_was_to_deny_and_says_nothing(past: Past) -> None:
    past.ends(job(fail_closed=True), nobody("unreachable"))


@breaks(printed_rightly, "cannot be read: no JSON")
def words_that_no_agent_can_read(past: Past) -> None:
    past.ends(job(), Printed(0, b"no JSON", b""))


@breaks(printed_rightly, "cannot be read: exit code -11")
def a_hook_that_crashed(past: Past) -> None:
    past.ends(job(), Printed(-11, b"", b""))


@breaks(unanswered_for_a_reason, "while nothing was amiss")
def a_hook_that_finds_nobody_while_nothing_is_amiss(past: Past) -> None:
    past.ends(job(), nobody("unreachable"))


@breaks(unanswered_for_a_reason, "while nothing was amiss")
def a_cut_that_does_not_excuse_a_hook_on_our_side(past: Past) -> None:
    past.troubles.append(Trouble("cut", 99.0, 101.0, remote_only=True))
    past.ends(job(remote=False), nobody("unreachable"))


@breaks(unanswered_for_a_reason, "while nothing was amiss")
def a_hook_that_was_answered_at_the_agent_which_the_record_does_not_know(past: Past) -> None:
    past.ends(job(), nobody("lost", f"ALREADY_EXISTS, h:1: {Refusal.OVER}"))


@breaks(in_time, "at most")
def a_hook_that_waits_beyond_its_limit(past: Past) -> None:
    past.ends(job(), nobody("unreachable"), seconds=job().wait + 60)


@breaks(one_end_each, "never ended")
def a_hook_that_never_ended(past: Past) -> None:
    past.started.add(job().number)


@breaks(one_end_each, "ended 2 times")
def a_hook_that_ended_twice(past: Past) -> None:
    past.ends(job(), nobody("unreachable"))
    past.ends(job(), nobody("unreachable"))


@breaks(of_the_record, "was decided 2 times")
@breaks(final_states, "has 2 ends")
def a_card_decided_twice(past: Past) -> None:
    past.answers(job("twice"))
    past.decides(job("twice"))


@breaks(of_the_record, "still waits")
@breaks(final_states, "has 0 ends")
@breaks(requests_end, "never ended")
def a_card_without_an_end(past: Past) -> None:
    past.asks(job())
    past.ends(job(), SILENCE)


@breaks(requests_end, "which it was not on")
def a_hook_that_leaves_twice(past: Past) -> None:
    past.asks(job())
    past.leaves(job())
    past.leaves(job())


@breaks(requests_end, "was decided for")
def a_decision_for_a_hook_that_had_left(past: Past) -> None:
    past.asks(job())
    past.leaves(job())
    past.decides(job())


@breaks(deliveries, "has no answer")
def a_delivery_to_a_hook_that_has_nothing(past: Past) -> None:
    past.answers(job())
    past.endings = [Ending(job(), 100.0, 101.0, None, killed=True)]


@breaks(deliveries, "nothing says if it was delivered")
def a_decision_without_a_fate(past: Past) -> None:
    past.asks(job())
    past.decides(job())
    past.ends(job(), None, killed=True)


@breaks(of_the_record, "the chain")
def a_record_that_was_changed(past: Past) -> None:
    past.answers(job())
    past.ledger()
    with closing(sqlite3.connect(past.folder / "record.db")) as database, database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (trigger,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute("UPDATE record SET verdict = 'deny' WHERE kind = 'decided'")


@pytest.mark.parametrize(("plant", "law", "words"), GARDEN.parameters())
def test_the_judge_finds_what_is_planted_and_nothing_where_all_agrees(
    plant: Callable[[Past], None], law: Law | None, words: str, tmp_path: Path
) -> None:
    past = Past(tmp_path / "state")
    plant(past)
    GARDEN.check(past.case(), law, words)


def test_every_law_is_seen_broken() -> None:
    assert GARDEN.unplanted() == set()
