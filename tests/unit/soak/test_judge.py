"""The judge of a soak finds a contradiction that was planted, and none where there is none."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.broker.messages import NoteToldOf, Refusal
from crabhook.model.actor import (
    OWNER,
    Actor,
    Ended,
    Nobody,
    RuleActor,
)
from crabhook.model.card import Card, Leg
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.session import Note
from crabhook.store import entries
from crabhook.store.change import Halt, halted, happened, left
from crabhook.store.record import RecordKind
from tests.soak.ends import final_states, of_the_record, requests_end
from tests.soak.jobs import CALL_ID
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
from tests.soak.undecided import ruling_counts, ruling_is_told, stays_open
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
        self,
        asked: Job,
        decision: Decision = ALLOW,
        *,
        typed: bool = True,
        by: Actor = OWNER,
        card: int = 0,
    ) -> None:
        """The operator, or the actor that is named, decides a job's card."""
        self.on_record(asked, decision, by, card=card)
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

    def stays_open(self, asked: Job, card: int = 0) -> Printed:
        """Nobody decided a job's card in time; return what its hook prints."""
        number = card or asked.number
        request = Leg(f"r{asked.number}", event(asked), 0)
        open_card = Card(number, (request,), 1.0)
        entry = entries.undecided(request, 2.0, card=open_card, until=90.0)
        self.changes.append(happened(entry))
        return left_open(asked, number)

    def is_open(self, asked: Job) -> Printed:
        """All of it, from the card to the end of its hook, which nobody decided in time."""
        self.asks(asked)
        printed = self.stays_open(asked)
        self.ends(asked, printed, asked.wait)
        return printed

    def rules(self, asked: Job, decision: Decision = ALLOW, by: Actor = OWNER) -> None:
        """A person rules on a job's card, whose hook has ended."""
        self.sitting.ruled.add(asked.call)
        made, legs = Decided(decision, by), [f"r{asked.number}"]
        entry = entries.decided(event(asked), made, 3.0, legs=legs, waited=1, card=asked.number)
        entry = replace(entry, body={**entry.body, "went_on": "2026-01-01T00:00:00Z"})
        self.changes.append(left(legs, entry))

    def asks_again(self, asked: Job, number: int = 9001) -> Job:
        """Return a job that makes the same call again."""
        fields = json.loads(asked.payload) | {"tool_use_id": f"{CALL_ID}{number}"}
        return replace(asked, number=number, again=True, payload=json.dumps(fields).encode())

    def at_once(
        self, asked: Job, decision: Decision = ALLOW, printed: Printed | None = None
    ) -> None:
        """A ruling decides a job's call, which gets no card; its hook prints that and its note."""
        made = Decided(decision, OWNER)
        entry = entries.decided(event(asked), made, 4.0, legs=[f"r{asked.number}"])
        self.changes.append(happened(entry))
        self.ends(asked, printed or reply(asked, decision))

    def note(self, asked: Job, what: str, *, by_answer_to: Job | None = None) -> None:
        """The record says what became of the note about the ruling on a job's card."""
        note = Note(1, asked.agent, asked.session, "", ruling_note(asked), OWNER, 3.0)
        other = by_answer_to or asked
        told = NoteToldOf(note, what, event(other), OWNER, f"r{other.number}")
        self.changes.append(happened(entries.note(told, 3.0)))

    def result(self, after: Job, *, words: str = "") -> Job:
        """Another call of the same session has a result, with which its model reads these words."""
        other = replace(job("", sample="PostToolUse-Bash"), session=after.session)
        payload = json.loads(other.payload) | {"session_id": after.session}
        other = replace(other, payload=json.dumps(payload).encode())
        request = Leg(f"r{other.number}", event(other), 0)
        self.changes.append(happened(entries.observed(request, 4.0)))
        context = {"hookEventName": "PostToolUse", "additionalContext": words}
        output = json.dumps({"hookSpecificOutput": context}).encode() if words else b""
        self.ends(other, Printed(0, output, b""))
        return other

    def case(self) -> Case:
        """All there is to judge."""
        return Case(self.endings, self.ledger(), [self.sitting], self.troubles, self.started)


def left_open(asked: Job, number: int) -> Printed:
    """What a hook prints whose call is open on that card."""
    reason = f"Not decided: nobody answered in time. The call is open as #{number}, and so on."
    return reply(asked, Decision(Verdict.DENY, reason=reason))


def ruling_note(asked: Job, done: str = "allowed") -> str:
    """The words for the model about a ruling on a job's card."""
    return f"#{asked.number}, a call of yours that nobody had decided in time, is {done} now. Go on"


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
    tool = event(asked).tool
    assert tool is not None
    same_call = replace(event(second), tool=replace(tool, use_id=""))
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


UNSPENT = nobody("unreachable", f"h:1: {Refusal.UNSPENT}")


@agrees
def a_yes_that_counts_once_and_whose_use_could_not_be_recorded(past: Past) -> None:
    past.troubles.append(Trouble("fill the disk", 99.0, 101.0, unwritten=True))
    past.ends(job(), UNSPENT)


@breaks(unanswered_for_a_reason, "while nothing was amiss")
def a_full_disk_that_does_not_excuse_a_hook_that_finds_nobody(past: Past) -> None:
    past.troubles.append(Trouble("fill the disk", 99.0, 101.0, unwritten=True))
    past.ends(job(), nobody("unreachable"))


@agrees
def a_slow_handshake_which_is_the_machines(past: Past) -> None:
    words = "h:1: _ssl.c:989: The handshake operation timed out"
    past.ends(job(remote=True), nobody("unreachable", words), seconds=5.1)


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
    past.ends(job(), nobody("lost", f"h:1: {Refusal.OVER}"))


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


def ruled(past: Past, wish: str = "open-allow", decision: Decision = ALLOW) -> Job:
    """A call that nobody decided in time, and that a person ruled on since."""
    asked = job(wish, fail_closed=True)
    past.is_open(asked)
    past.rules(asked, decision)
    return asked


@agrees
def a_call_that_is_ruled_on_once_its_hook_has_ended_and_runs_when_it_is_made_again(
    past: Past,
) -> None:
    asked = ruled(past)
    past.note(asked, "note waits for its next call: and so on")
    again = past.asks_again(asked)
    past.at_once(again, replace(ALLOW, note=ruling_note(asked)))
    past.note(asked, "note was delivered with PreToolUse Bash", by_answer_to=again)


@agrees
def a_call_that_is_made_again_on_its_open_card_and_decided_in_time(past: Past) -> None:
    asked = job("open-allow", fail_closed=True)
    past.is_open(asked)
    past.leaves(asked)
    again = past.asks_again(asked)
    past.asks(again, card=asked.number)
    past.sitting.ruled.add(asked.call)
    past.decides(again, typed=False, card=asked.number)
    past.is_delivered(again, card=asked.number)
    past.ends(again, reply(again))


@agrees
def a_call_that_is_denied_each_time_it_is_made_again_with_the_words_of_other_rulings(
    past: Past,
) -> None:
    asked = ruled(past, "open-deny", DENY)
    for number in (9001, 9002):
        past.at_once(past.asks_again(asked, number), DENY)
    allowed = job("allow", session=asked.session)
    other = f"{ruling_note(asked, 'denied')}. The operator says: {asked.word}"
    past.answers(allowed, replace(ALLOW, note=f"{allowed.word}\n{other}"))


@agrees
def an_open_card_whose_time_passes(past: Past) -> None:
    asked = job("open-deny", fail_closed=True)
    past.is_open(asked)
    past.gone(RecordKind.EXPIRED, Leg(f"r{asked.number}", event(asked), 0), asked.number)


@agrees
def a_note_that_did_not_arrive_and_is_told_again(past: Past) -> None:
    asked = ruled(past)
    other = past.result(asked, words=ruling_note(asked))
    past.note(asked, "note did not arrive with PostToolUse Bash: it waits for the next call")
    past.ends(replace(other, number=9002), past.endings[-1].printed)
    past.note(asked, "note was delivered with PostToolUse Bash", by_answer_to=other)


@breaks(printed_rightly, "its call was left open, and it was told 'allow'")
def a_late_yes_that_is_printed_by_the_hook_of_the_open_call(past: Past) -> None:
    asked = job("open-allow", fail_closed=True)
    past.asks(asked)
    past.stays_open(asked)
    past.rules(asked)
    past.ends(asked, reply(asked), 6.0)


@breaks(printed_rightly, "its call was left open, and it was told ''")
def an_open_call_whose_hook_lets_it_pass(past: Past) -> None:
    asked = job("open-allow", fail_closed=True)
    past.asks(asked)
    past.stays_open(asked)
    past.rules(asked)
    past.ends(asked, SILENCE, 6.0)


@breaks(printed_rightly, "is open as #7, which is not on record")
def a_hook_that_says_its_call_is_open_and_no_card_is(past: Past) -> None:
    asked = job("open-allow", fail_closed=True)
    past.gone(RecordKind.WITHDRAWN, past.asks(asked), asked.number)
    past.ends(asked, left_open(asked, 7), asked.wait)


@breaks(printed_rightly, "which is another call")
def a_hook_that_names_the_open_card_of_another_call(past: Past) -> None:
    asked, other = (job("open-allow", at=at, fail_closed=True) for at in (0, 1))
    for one, card in ((asked, other.number), (other, asked.number)):
        past.asks(one)
        past.stays_open(one)
        past.ends(one, left_open(one, card), one.wait)


@breaks(printed_rightly, "it is to let calls pass")
def a_hook_that_lets_calls_pass_and_says_that_its_own_is_open(past: Past) -> None:
    past.is_open(job("open-allow", fail_closed=False))


@breaks(unanswered_for_a_reason, "not decided after 1.0 s while nothing was amiss")
def a_hook_that_is_not_decided_long_before_its_time(past: Past) -> None:
    asked = job("open-allow", fail_closed=True)
    past.asks(asked)
    past.ends(asked, past.stays_open(asked), 1.0)


@breaks(decided_by_somebody, "was never typed")
def a_ruling_that_nobody_typed(past: Past) -> None:
    ruled(past)
    past.sitting.ruled.clear()


@breaks(decided_by_somebody, "was not what was typed (open-deny)")
def a_yes_where_the_ruling_was_a_no(past: Past) -> None:
    ruled(past, "open-deny")


@breaks(deliveries, "is called delivered, and its hook had ended")
def a_ruling_that_a_hook_is_said_to_have(past: Past) -> None:
    past.is_delivered(ruled(past))


@breaks(stays_open, "was left open, and was open already")
def a_card_that_is_left_open_twice(past: Past) -> None:
    past.stays_open(job("open-allow", fail_closed=True))
    past.is_open(job("open-allow", fail_closed=True))
    past.stays_open(job("open-allow", fail_closed=True))


@breaks(stays_open, "was ruled on, and its agent had not gone on")
def a_ruling_on_a_card_whose_hook_waits(past: Past) -> None:
    past.asks(job("open-allow"))
    past.rules(job("open-allow"))


@breaks(stays_open, "was decided, and its agent had gone on")
def a_decision_for_a_hook_that_ended_undecided(past: Past) -> None:
    past.is_open(job("open-allow", fail_closed=True))
    past.decides(job("open-allow"))


@breaks(stays_open, "stands open for another call")
def an_open_card_on_which_another_call_is_asked_about(past: Past) -> None:
    asked = job("open-allow", fail_closed=True)
    past.is_open(asked)
    past.leaves(asked)
    past.asks(job("open-allow", at=1), card=asked.number)


@breaks(stays_open, "is counted, and waits no more")
def a_card_that_has_ended_and_is_still_counted(past: Past) -> None:
    asked = ruled(past)
    row = Halt(f'{{"asked":{asked.number}}}', '{"times":1,"went_on":1}')
    past.changes.append(halted((row,), entries.stops((), 0, 5.0, asked=1)))


@breaks(final_states, "has 2 ends")
def an_open_card_that_is_ruled_on_and_expires(past: Past) -> None:
    asked = ruled(past)
    past.gone(RecordKind.EXPIRED, Leg(f"r{asked.number}", event(asked), 0), asked.number)


@breaks(final_states, "has 0 ends")
@breaks(of_the_record, "still waits")
def an_open_card_that_is_lost(past: Past) -> None:
    past.is_open(job("open-allow", fail_closed=True))


@breaks(ruling_counts, "was told 'allow' by a ruling; what stands is ''")
def a_yes_that_lets_two_calls_run(past: Past) -> None:
    asked = ruled(past)
    for number in (9001, 9002):
        past.at_once(past.asks_again(asked, number))


@breaks(ruling_counts, "was told that the ruling still stands")
def a_yes_that_is_used_up_by_a_call_that_was_turned_away(past: Past) -> None:
    past.troubles.append(Trouble("fill the disk", 99.0, 101.0, unwritten=True))
    past.at_once(past.asks_again(ruled(past)), printed=UNSPENT)


@breaks(ruling_counts, "was told 'allow' by a ruling; what stands is 'deny'")
def a_call_that_runs_once_after_a_no(past: Past) -> None:
    asked = ruled(past, "open-deny", DENY)
    past.at_once(past.asks_again(asked))


@breaks(ruling_counts, "was told 'deny' by a ruling; what stands is 'allow'")
def a_call_that_is_denied_again_after_a_yes(past: Past) -> None:
    past.at_once(past.asks_again(ruled(past)), DENY)


@breaks(ruling_counts, "was asked about, and record 3 rules on it (deny)")
def a_call_that_is_asked_about_again_after_a_no(past: Past) -> None:
    again = past.asks_again(ruled(past, "open-deny", DENY))
    past.asks(again)
    past.ends(again, SILENCE)


@breaks(ruling_is_told, "which nobody ruled")
def a_note_that_says_another_ruling(past: Past) -> None:
    asked = ruled(past)
    past.result(asked, words=ruling_note(asked, "denied"))


@breaks(ruling_is_told, "which is of another session")
def a_note_in_another_session(past: Past) -> None:
    asked = ruled(past)
    past.result(replace(asked, session="another"), words=ruling_note(asked))


@breaks(ruling_is_told, "once too often")
def a_note_that_two_calls_have(past: Past) -> None:
    asked = ruled(past)
    other = past.result(asked, words=ruling_note(asked))
    past.ends(replace(other, number=9002), past.endings[-1].printed)


@breaks(ruling_is_told, "was delivered 2 times")
def a_note_that_is_delivered_twice(past: Past) -> None:
    asked = ruled(past)
    for _ in range(2):
        past.note(asked, "note was delivered with PreToolUse Bash")


@breaks(ruling_is_told, "was delivered, it says, and no hook has it")
def a_note_that_no_hook_has(past: Past) -> None:
    asked = ruled(past)
    other = past.result(asked)
    past.note(asked, "note was delivered with PostToolUse Bash", by_answer_to=other)


@breaks(ruling_is_told, "waits still, and job")
def a_note_that_an_answer_should_have_carried(past: Past) -> None:
    asked = ruled(past)
    past.note(asked, "note waits for its next call: and so on")
    past.result(asked)


@pytest.mark.parametrize(("plant", "law", "words"), GARDEN.parameters())
def test_the_judge_finds_what_is_planted_and_nothing_where_all_agrees(
    plant: Callable[[Past], None], law: Law | None, words: str, tmp_path: Path
) -> None:
    past = Past(tmp_path / "state")
    plant(past)
    GARDEN.check(past.case(), law, words)


def test_every_law_is_seen_broken() -> None:
    assert GARDEN.unplanted() == set()
