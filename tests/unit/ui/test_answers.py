"""What is held and not yet sent is nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crabhook.desk.commands import TakenOffer
from crabhook.model.decision import Decision, Verdict
from crabhook.store.commit import Commit
from crabhook.ui.answers import SPARE, Answers, Seen
from tests.support.offering import BOTH, NARROW
from tests.support.rows import every_row
from tests.support.sitting import Sitting, call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crabhook.model.card import Card

ALLOW = Decision(Verdict.ALLOW)
AGAIN = {"hook_event_name": "PermissionRequest", "tool_use_id": "t1"}
SENT = 1.0  # seconds after which an allow is no longer held


class Giving(Answers):
    """Answers to cards as they are, and what was said of them."""

    def __init__(self, sitting: Sitting, take_back: float) -> None:
        self.said: list[str] = []
        super().__init__(sitting.desk.replica, take_back, self.said.append)

    def to(
        self, cards: Iterable[Card], decision: Decision, rule: TakenOffer | None = None
    ) -> list[str]:
        """Give cards an answer; return what was said."""
        self.said.clear()
        self.give([Seen(card, card.revision) for card in cards], decision, rule)
        return [said for said in self.said if said]


def desk_with(cards: int = 1) -> tuple[Sitting, Giving]:
    sitting = Sitting()
    for number in range(cards):
        sitting.ask(session_id=f"s{number}")
    return sitting, Giving(sitting, take_back=0.6)


@every_row("verdict", Verdict)
def test_every_verdict_is_held_for_the_moment_and_then_sent(verdict: Verdict) -> None:
    sitting, answers = desk_with()
    decision = Decision(verdict, reason="no")
    assert answers.to([sitting.card], decision) == []
    assert not sitting.decided()
    assert answers.waiting == 1
    sitting.desk.pass_time(0.7)
    answers.tick()
    assert answers.waiting == 0
    if verdict in sitting.card.choices.verdicts:
        assert [one.verdict for _, one in sitting.decided()] == [verdict]


def test_an_answer_is_sent_while_its_card_still_waits_for_it() -> None:
    sitting = Sitting()
    sitting.ask(wait=SPARE + 0.25)
    answers = Giving(sitting, take_back=5.0)
    answers.to([sitting.card], ALLOW)
    assert answers.due == sitting.desk.now() + 0.25
    sitting.ask(wait=SPARE / 2, session_id="b")
    answers.to([sitting.desk.waiting()[1]], ALLOW)
    assert sitting.decided() == [(2, ALLOW)]


def test_a_held_allow_is_sent_once_when_it_is_due() -> None:
    sitting, answers = desk_with()
    answers.to([sitting.card], ALLOW)
    assert answers.due == sitting.desk.now() + 0.6
    sitting.desk.pass_time(0.59)
    answers.tick()
    assert not sitting.decided()
    sitting.desk.pass_time(0.02)
    answers.tick()
    answers.tick()
    assert sitting.decided() == [(1, ALLOW)]
    assert answers.due is None


STRICTER = [
    Decision(Verdict.ALLOW),
    Decision(Verdict.PASS),
    Decision(Verdict.ASK),
    Decision(Verdict.DENY, reason="no"),
    Decision(Verdict.DENY, reason="no", interrupt=True),
    Decision(Verdict.DENY, reason="no", halt="enough"),
]


@every_row("given", range(len(STRICTER)))
@every_row("held", range(len(STRICTER)))
def test_only_a_stricter_answer_replaces_a_held_one(held: int, given: int) -> None:
    sitting, answers = desk_with()
    answers.to([sitting.card], STRICTER[held])
    said = answers.to([sitting.card], STRICTER[given])
    sent = answers.held(1)
    assert sent is not None
    assert sent.decision == STRICTER[max(held, given)]
    assert bool(said) == (given <= held)
    assert all("#1 is being" in one and "u takes it back first" in one for one in said)


def test_in_a_mode_that_asks_nobody_no_opinion_is_no_stricter_than_an_allow() -> None:
    sitting = Sitting()
    sitting.ask(permission_mode="bypassPermissions")
    answers = Giving(sitting, take_back=0.6)
    answers.to([sitting.card], ALLOW)
    assert answers.to([sitting.card], Decision(Verdict.PASS))


def test_while_an_answer_is_on_its_way_no_other_is_given() -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask()
    sitting.wait()
    commit = Commit()
    sitting.desk.runner.write = lambda *_: commit
    sitting.press("p", "a")
    assert f"#{number} has your answer" in sitting.screen.notice.text
    commit.end()
    sitting.wait(9)
    assert sitting.card.decision is not None
    assert sitting.card.decision.verdict is Verdict.PASS


def test_another_answer_replaces_the_held_one() -> None:
    sitting, answers = desk_with()
    denial = Decision(Verdict.DENY, reason="no")
    answers.to([sitting.card], ALLOW)
    answers.to([sitting.card], denial)
    assert answers.waiting == 1
    sitting.desk.pass_time(9)
    answers.tick()
    assert sitting.decided() == [(1, denial)]


def test_taking_back_takes_the_named_card_or_else_the_last() -> None:
    sitting, answers = desk_with(3)
    for card in sitting.desk.waiting():
        answers.to([card], ALLOW)
    assert "#1 taken back" in answers.take_back(1)
    assert "#3 taken back" in answers.take_back(99)
    assert "#2 taken back" in answers.take_back(None)
    assert "nothing to take back" in answers.take_back(None)
    sitting.desk.pass_time(9)
    answers.tick()
    assert not sitting.decided()


def test_news_of_an_ended_card_drops_what_is_held_for_it_and_says_why() -> None:
    sitting, answers = desk_with()
    answers.to([sitting.card], ALLOW)
    sitting.leave(1)
    ended = sitting.desk.card(1)
    assert ended is not None
    said = answers.news(ended)
    assert said == f"#1 WITHDRAWN ({ended.why}): your answer changed nothing"
    assert answers.news(ended) == ""


def test_news_of_a_card_without_a_held_answer_says_nothing() -> None:
    sitting, answers = desk_with()
    assert answers.news(sitting.card) == ""
    answers.to([sitting.card], ALLOW)
    assert answers.news(sitting.card) == ""
    assert answers.waiting == 1


def test_what_the_desk_refuses_is_said() -> None:
    sitting, answers = desk_with()
    (said,) = Giving(sitting, take_back=0).to([sitting.card], Decision(Verdict.DENY))
    assert "reason" in said
    card = sitting.card
    answers.to([card], ALLOW)
    sitting.leave(1)
    sitting.desk.pass_time(9)
    answers.tick()
    assert "already withdrawn" in answers.said[-1]


@pytest.mark.parametrize(("passed", "left"), [(0.0, 1.0), (0.3, 0.5), (0.6, 0.0), (9.0, 0.0)])
def test_the_moment_runs_out(passed: float, left: float) -> None:
    sitting, answers = desk_with()
    answers.to([sitting.card], ALLOW)
    held = answers.held(1)
    assert held is not None
    assert held.left(sitting.desk.now() + passed) == pytest.approx(left)


# The same from a screen's keys.


def test_an_allow_is_sent_only_after_its_moment() -> None:
    sitting = Sitting()
    number = sitting.ask()
    sitting.wait()
    sitting.press("a")
    assert not sitting.decided()
    assert "u takes it back" in sitting.text()
    sitting.wait(SENT)
    assert sitting.verdicts() == [(number, Verdict.ALLOW)]


def test_an_allow_can_be_taken_back() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("a", "u")
    sitting.wait(60)
    assert not sitting.decided()
    assert "taken back" in sitting.text()


def test_a_note_goes_with_the_allow_and_is_held_like_one() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("n")
    sitting.type("keep it small")
    sitting.press("enter")
    assert not sitting.decided()
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert (decision.verdict, decision.note) == (Verdict.ALLOW, "keep it small")


def test_without_a_take_back_moment_an_allow_is_sent_at_once() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.wait()
    sitting.press("a")
    assert len(sitting.decided()) == 1


@pytest.mark.parametrize(
    ("key", "verdict", "said"),
    [
        ("h", Verdict.ASK, "HAND BACK"),
        ("p", Verdict.PASS, "PASS"),
        ("f", Verdict.DEFER, "DEFER"),
    ],
)
def test_what_seems_to_do_no_harm_is_held_too_and_taken_back(
    key: str, verdict: Verdict, said: str
) -> None:
    sitting = Sitting()
    number = sitting.ask()
    sitting.wait()
    sitting.press(key)
    assert f"{said} in 1 s" in sitting.text()
    sitting.press("u")
    sitting.wait(SENT)
    assert not sitting.decided()
    sitting.press(key)
    sitting.wait(SENT)
    assert sitting.verdicts() == [(number, verdict)]


def test_any_other_answer_takes_a_held_allow_back_first() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("a", "d")
    sitting.wait(60)  # the box is open: nothing may be sent behind it
    assert not sitting.decided()
    sitting.type("no")
    sitting.press("enter")
    sitting.wait(SENT)
    assert [verdict for _, verdict in sitting.verdicts()] == [Verdict.DENY]


def test_an_allow_whose_card_ends_in_its_moment_is_dropped_and_said_so() -> None:
    sitting = Sitting()
    number = sitting.ask()
    sitting.wait()
    sitting.press("a")
    sitting.leave(number)
    sitting.wait(SENT)
    assert not sitting.decided()
    assert "your answer changed nothing" in sitting.text()


def test_an_allow_whose_card_grows_in_its_moment_is_dropped_and_said_so() -> None:
    sitting = Sitting()
    sitting.ask(tool_use_id="t1")
    sitting.wait()
    sitting.press("a")
    sitting.desk.ask(call(sandbox=False, **AGAIN))
    sitting.wait(SENT)
    assert not sitting.decided()
    assert "your answer was not sent" in sitting.text()


def test_two_allows_are_held_apart() -> None:
    sitting = Sitting(take_back_ms=2000)
    first = sitting.ask()
    sitting.ask(session_id="b")
    sitting.wait()
    sitting.press("a", "down")
    sitting.wait()
    sitting.press("a", "u")
    sitting.wait(5)
    assert sitting.verdicts() == [(first, Verdict.ALLOW)]


def test_an_allow_held_when_the_operator_quits_is_never_sent() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("a", "c-c", "c-c")
    assert sitting.screen.done
    assert not sitting.decided()


# The input box.


def test_a_denial_carries_the_reason_typed() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("d")
    sitting.type("use npm ci, not apad")
    sitting.press("enter")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "use npm ci, not apad")


@pytest.mark.parametrize("typed", ["", "   "])
def test_an_end_of_the_turn_without_a_reason_is_refused_with_a_hint(typed: str) -> None:
    sitting = Sitting()
    sitting.ask(hook_event_name="PermissionRequest")
    sitting.wait()
    sitting.press("D")
    sitting.type(typed)
    sitting.press("enter")
    assert not sitting.decided()
    assert sitting.draw().cursor is not None
    assert "the model reads it" in sitting.text()


def test_what_arrives_while_typing_changes_neither_card_nor_line() -> None:
    sitting = Sitting()
    number = sitting.ask()
    sitting.wait()
    sitting.press("d")
    sitting.type("do not")
    for other in range(20):
        sitting.ask(session_id=f"s{other}")
    sitting.type(" do it")
    sitting.press("enter")
    sitting.wait(SENT)
    ((decided, decision),) = sitting.decided()
    assert (decided, decision.reason) == (number, "do not do it")


def test_a_line_whose_card_ended_is_not_sent_but_kept() -> None:
    sitting = Sitting()
    number = sitting.ask()
    sitting.ask(session_id="b")
    sitting.wait()
    sitting.press("d")
    sitting.type("use ci")
    sitting.leave(number)
    assert f"#{number} has ended, nothing will be sent" in sitting.text()
    sitting.press("enter")
    assert not sitting.decided()
    assert "nothing was sent" in sitting.text()
    sitting.press("down")
    sitting.wait()
    sitting.press("d", "up", "enter")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.reason == "use ci"


def test_leaving_the_box_sends_nothing_and_keeps_the_line() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("d")
    sitting.type("never mind")
    sitting.press("escape")
    assert not sitting.decided()
    sitting.wait()
    sitting.press("d", "up")
    assert "never mind" in sitting.text()


# Late and refused answers.


def test_an_answer_that_comes_too_late_is_told_and_changes_nothing() -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask()
    sitting.wait()
    commit = Commit()  # so that the news has not reached the screen yet
    sitting.desk.runner.write = lambda *_: commit
    sitting.desk.leave(sitting.card.requests[0].id)
    sitting.press("p")
    assert not sitting.decided()
    commit.end()
    assert f"#{number} is already withdrawn" in sitting.text()
    assert "changed nothing" in sitting.text()


def test_an_answer_without_an_outcome_is_shown_as_such_and_not_given_a_second_time() -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask()
    sitting.wait()
    commit = Commit()
    sitting.desk.runner.write = lambda *_: commit
    sitting.press("a")
    assert "not confirmed" not in sitting.text()  # most are confirmed in a moment
    sitting.wait()
    assert "ALLOW given, not confirmed yet" in sitting.text()
    sitting.press("d")
    assert f"#{number} has your answer" in sitting.text()
    commit.end()
    assert "given, not confirmed" not in sitting.text()
    assert "ALLOWED" in sitting.text()


def test_what_the_desk_refuses_names_the_card() -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask()
    sitting.wait()
    commit = Commit()
    sitting.desk.runner.write = lambda *_: commit
    sitting.desk.runner.unrecorded = lambda *_: None
    sitting.press("a")
    commit.refuse(OSError("the storage is gone"))
    assert f"#{number}: " in sitting.text()
    assert "the storage is gone" in sitting.text()


def test_answers_given_together_are_taken_back_together_and_others_stay() -> None:
    sitting, answers = desk_with(3)
    one, two, three = sitting.desk.waiting()
    answers.to([one], ALLOW)
    assert answers.to([two, three], ALLOW) == []
    assert answers.waiting == 3
    assert "2 taken back" in answers.take_back(three.number)
    assert answers.held(one.number) is not None
    assert answers.waiting == 1


def test_of_several_answers_each_fault_is_told_and_the_others_are_sent() -> None:
    sitting, _ = desk_with(3)
    cards = sitting.desk.waiting()
    sitting.leave(2)
    faults = Giving(sitting, take_back=0).to(cards, Decision(Verdict.DENY, reason="no"))
    assert len(faults) == 1
    assert "#2" in faults[0]
    assert [number for number, _ in sitting.decided()] == [1, 3]


def test_a_rule_goes_with_its_allow_and_with_no_other() -> None:
    sitting, answers = desk_with(2)
    sitting.desk.offered[1] = sitting.desk.offered[2] = BOTH
    taken = TakenOffer(NARROW.id, NARROW.expires)
    first, second = sitting.desk.waiting()
    answers.to([first], ALLOW, taken)
    answers.to([second], ALLOW, taken)
    answers.take_back(second.number)
    answers.to([second], ALLOW)
    sitting.desk.pass_time(9)
    answers.tick()
    assert sitting.desk.rules == [(1, NARROW)]
    assert sorted(number for number, _ in sitting.decided()) == [1, 2]


def test_a_rule_for_a_card_that_has_ended_is_not_written() -> None:
    sitting, answers = desk_with()
    card = sitting.card
    sitting.leave(1)
    (said,) = Giving(sitting, take_back=0).to([card], ALLOW, TakenOffer(NARROW.id, None))
    assert "this answer changed nothing" in said
    assert not sitting.desk.rules
    assert answers.waiting == 0


def test_a_decision_is_on_the_card_as_it_was_on_the_terminal_when_the_key_was_pressed() -> None:
    sitting = Sitting(take_back_ms=0)
    number = sitting.ask(tool_use_id="t1")
    sitting.wait()
    painted = sitting.card.revision
    # a hook says that the call is over, whose hook still waits: an alarm, that was not drawn yet
    over = call(hook_event_name="PostToolUse", tool_use_id="t1", tool_response="done")
    sitting.desk.ask(over)
    assert sitting.card.alarms
    assert sitting.card.revision > painted
    sitting.controller.press("a")
    assert not sitting.decided()
    assert f"#{number} was asked again, or warned of" in sitting.screen.notice.text
    sitting.wait()
    sitting.press("a")
    assert sitting.verdicts() == [(number, Verdict.ALLOW)]
