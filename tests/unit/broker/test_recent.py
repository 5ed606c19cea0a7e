"""A call decided a moment ago: nobody is asked twice, and a note still arrives."""

import pytest

from crabhook.broker import recent
from crabhook.broker.recent import ASKED_AGAIN_WITHIN, NOTE_KEPT, RecentDecisions
from crabhook.model.actor import OWNER
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import EndScope, Event, ToolCall
from tests.support.playbook import (
    ALLOW,
    ASK,
    DENY,
    PASS,
    WAIT,
    Playbook,
    asking,
    bash,
    calling,
    done,
    of_machine,
    prompt,
)

AGAIN = "the same call was decided before"
NOTED = Decision(Verdict.ALLOW, note="mind the gap")
ALLOWED = Decided(ALLOW, OWNER)
CARRIED = 'PostToolUse {"additionalContext": "mind the gap"}'


# A PermissionRequest after its PreToolUse was decided.


@pytest.mark.parametrize("decision", [PASS, ASK])
def test_a_prompt_after_no_opinion_gets_none_and_nobody_is_asked(
    decision: Decision, book: Playbook
) -> None:
    book.asks(bash("a", "ls")).answers(1, decision)
    book.asks(prompt("b", "ls")).sees("b hears nothing", f"feed: PermissionRequest PASSED: {AGAIN}")
    book.asks(prompt("c", "ls")).sees("#2 waiting: c")


def test_a_prompt_after_its_call_expired_gets_no_opinion(book: Playbook) -> None:
    book.asks(bash("a", "ls")).waits(WAIT)
    book.asks(prompt("b", "ls")).sees("b hears nothing", f"feed: PermissionRequest PASSED: {AGAIN}")


def test_a_prompt_after_an_allow_is_allowed_once(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW)
    book.asks(prompt("b", "ls")).sees(
        "b hears PermissionRequest allow", f"feed: PermissionRequest ALLOWED: {AGAIN}"
    )
    book.asks(prompt("c", "ls")).sees("#2 waiting: c")


@pytest.mark.parametrize("decision", [ALLOW, DENY, NOTED])
def test_nothing_that_was_decided_reaches_the_same_call_of_another_machine(
    decision: Decision, book: Playbook
) -> None:
    """Who holds another machine's token may know the session's id, the call's and its input."""
    book.asks(of_machine("build1", bash("a", "ls", "t1"))).answers(1, decision)
    book.asks(of_machine("build2", done("b", "ls", "t1"))).sees(
        "b hears nothing", "feed: PostToolUse"
    )
    book.asks(of_machine("build2", prompt("c", "ls"))).sees("#2 waiting: c")
    book.asks(prompt("d", "ls")).sees("#3 waiting: d")


def test_no_machine_joins_another_machines_card_or_ends_it(book: Playbook) -> None:
    book.asks(of_machine("build1", bash("a", "ls", "t1"))).sees("#1 waiting: a")
    book.asks(of_machine("build2", prompt("b", "ls"))).sees("#2 waiting: b")
    book.asks(of_machine("build2", bash("c", "ls", "t1")))
    book.asks(of_machine("build2", done("d", "ls", "t1")))
    book.asks(of_machine("build2", asking("e", "Stop")))
    book.asks(of_machine("build2", asking("f", "SessionEnd")))
    (card, *_) = book.broker.waiting()
    assert (card.number, card.alarms, [leg.id for leg in card.requests]) == (1, (), ["a"])
    assert "build1" in [one.machine for one in book.broker.live(book.now)]


def test_a_prompt_after_a_denial_is_denied(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, DENY)
    book.asks(prompt("b", "ls")).sees(
        'b hears PermissionRequest deny {"message": "not here"}',
        f"feed: PermissionRequest DENIED: {AGAIN}",
    )


@pytest.mark.parametrize(
    ("asked", "sent"), [("ls", ' {"updatedInput": {"command": "ls -l"}}'), ("ls -l", "")]
)
def test_a_changed_input_is_known_again_in_both_its_forms(
    asked: str, sent: str, book: Playbook
) -> None:
    changed = Decision(Verdict.ALLOW, updated_input={"command": "ls -l"})
    book.asks(bash("a", "ls")).answers(1, changed)
    book.asks(prompt("b", asked)).sees(
        f"b hears PermissionRequest allow{sent}",
        f"feed: PermissionRequest ALLOWED: {AGAIN}",
    )


@pytest.mark.parametrize("more", [{"agent": "sub"}, {"session": "else"}, {"tool": "Shell"}])
def test_another_agents_prompt_is_not_answered_by_it(more: dict[str, str], book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW)
    book.asks(prompt("b", "ls", **more)).sees("#2 waiting: b")


def test_an_allow_never_reaches_a_prompt_that_asks_for_more(book: Playbook) -> None:
    book.asks(calling("a", {}, "t1")).answers(1, ALLOW)
    book.asks(prompt("b", "rm -rf /")).sees("#2 waiting: b")


def test_an_allow_is_forgotten_in_time(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW).waits(ASKED_AGAIN_WITHIN + 0.1)
    book.asks(prompt("b", "ls")).sees("#2 waiting: b")


@pytest.mark.parametrize("over", ["PostToolUse", "PermissionDenied", "Stop", "SessionEnd"])
def test_an_allow_is_forgotten_when_its_call_is_over(over: str, book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW).asks(done("z", "ls", event=over))
    book.asks(prompt("b", "ls")).sees("#2 waiting: b")


def test_an_allow_survives_the_end_of_another_call_and_another_agents_turn(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW)
    book.asks(done("x", "ls", "t2")).asks(asking("y", "Stop", agent="sub"))
    book.asks(prompt("b", "ls"))
    assert not book.broker.waiting()


def test_a_prompt_given_again_after_an_answer_that_was_lost(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW).asks(prompt("b", "ls"))
    book.asks(prompt("b", "ls")).sees("b/2 hears PermissionRequest allow, confirms")


# DuplicateEvent: what was decided about one says nothing about the other.


def test_when_one_twin_was_passed_over_no_prompt_is_allowed(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2"))
    book.answers(1, ALLOW).answers(2, PASS)
    for ticket in ("c", "d"):
        book.asks(prompt(ticket, "ls"))
        book.sees(f"{ticket} hears nothing", f"feed: PermissionRequest PASSED: {AGAIN}")


def test_a_prompt_after_no_opinion_says_nothing_about_the_twin_that_waits(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2")).answers(1, PASS)
    book.asks(prompt("c", "ls")).sees("c hears nothing", f"feed: PermissionRequest PASSED: {AGAIN}")
    assert [card.number for card in book.broker.waiting()] == [2]


def test_twins_decided_alike_are_each_answered_once(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2"))
    book.answers(1, ALLOW).answers(2, ALLOW).asks(prompt("c", "ls")).asks(prompt("d", "ls"))
    assert not book.broker.waiting()
    book.asks(prompt("e", "ls")).sees("#3 waiting: e")


def test_twins_decided_differently_are_asked_about_again(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2"))
    book.answers(1, ALLOW).answers(2, DENY)
    book.asks(prompt("c", "ls")).sees("#3 waiting: c")


def test_an_allow_is_not_given_while_a_twin_still_waits(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2")).answers(1, ALLOW)
    book.asks(prompt("c", "ls")).sees("#3 waiting: c")


def test_an_allow_is_not_given_when_a_twin_left_undecided(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2")).leaves("b").answers(1, ALLOW)
    book.asks(prompt("c", "ls")).sees("#3 waiting: c")


def test_a_call_whose_hook_left_undecided_is_asked_about_again(book: Playbook) -> None:
    book.asks(bash("a", "ls")).leaves("a")
    book.asks(prompt("b", "ls")).sees("#2 waiting: b")


def test_a_hook_that_left_and_came_back_is_no_twin_of_itself(book: Playbook) -> None:
    book.asks(bash("a", "ls")).leaves("a").asks(bash("a", "ls")).answers(2, ALLOW)
    book.asks(prompt("b", "ls")).sees(
        "b hears PermissionRequest allow", f"feed: PermissionRequest ALLOWED: {AGAIN}"
    )


# Notes.


def test_a_note_is_carried_by_pre_tool_use_itself(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, NOTED).sees(
        'a hears PreToolUse allow {"additionalContext": "mind the gap"}, confirms',
        "#1 decided ALLOWED: a",
    )
    book.asks(done("z", "ls")).sees("z hears nothing", "feed: PostToolUse")


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure"])
def test_a_note_a_prompt_cannot_carry_comes_with_the_result_once(
    event: str, book: Playbook
) -> None:
    book.asks(prompt("a", "ls")).answers(1, NOTED)
    book.sees("a hears PermissionRequest allow, confirms", "#1 decided ALLOWED: a")
    book.asks(done("x", "rm")).sees("x hears nothing", "feed: PostToolUse")
    book.asks(done("y", "ls", agent="sub")).sees("y hears nothing", "feed: PostToolUse")
    carried = CARRIED.replace("PostToolUse", event)
    book.asks(done("z", "ls", event=event)).sees(f"z hears {carried}", f"feed: {event}")
    book.asks(done("z2", "ls", event=event)).sees("z2 hears nothing", f"feed: {event}")


def test_a_note_one_leg_carried_does_not_come_again(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(prompt("b", "ls")).answers(1, NOTED)
    book.asks(done("z", "ls")).sees("z hears nothing", "feed: PostToolUse")


def test_a_note_finds_the_call_whose_input_was_changed(book: Playbook) -> None:
    changed = Decision(Verdict.ALLOW, note="mind the gap", updated_input={"command": "ls -l"})
    book.asks(prompt("a", "ls")).answers(1, changed)
    book.asks(done("z", "ls -l")).sees(f"z hears {CARRIED}", "feed: PostToolUse")


def test_a_note_with_a_questions_answer_finds_its_result(book: Playbook) -> None:
    asked = {"questions": [{"question": "Which?"}]}
    named = {"event": "PermissionRequest", "tool": "AskUserQuestion"}
    book.asks(calling("a", asked, **named)).answers(1, NOTED)
    answered = {**asked, "answers": {"Which?": "A"}}
    book.asks(calling("z", answered, "t1", **{**named, "event": "PostToolUse"}))
    book.sees(f"z hears {CARRIED}", "feed: PostToolUse")


def test_a_note_is_forgotten_with_its_session_or_in_a_day(book: Playbook) -> None:
    book.asks(prompt("a", "ls")).answers(1, NOTED).asks(asking("e", "SessionEnd"))
    book.asks(done("z", "ls")).sees("z hears nothing", "feed: PostToolUse")
    book.asks(prompt("b", "ls")).answers(2, NOTED).waits(NOTE_KEPT + 1)
    book.asks(done("z2", "ls")).sees("z2 hears nothing", "feed: PostToolUse")


# The memory itself.


def call(number: int, use_id: str = "") -> Event:
    tool = ToolCall("Bash", {"command": str(number)}, use_id)
    return Event("claude", "PreToolUse", session="s", tool=tool, fields={"much": "x"})


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Have the memory keep few entries; return how many."""
    monkeypatch.setattr(recent, "KEPT", 50)
    return 50


def test_the_memory_is_bounded_and_the_oldest_goes_first(few: int) -> None:
    settled = RecentDecisions()
    for number in range(few + 1):
        settled.remember_answer(call(number), ALLOWED, 0.0)
        settled.remember_note(call(number), Decided(NOTED, OWNER), 0.0)
    assert repr(settled) == f"<RecentDecisions answers={few} notes={few}>"
    assert settled.take_note(call(0), 0.0) == ""
    assert settled.take_note(call(1), 0.0) == "mind the gap"


def test_the_memory_keeps_no_payload() -> None:
    settled = RecentDecisions()
    settled.remember_answer(call(1), ALLOWED, 0.0)
    assert [entry.event.fields for _, entry in settled._answers.of_session(call(1))] == [{}]


def test_no_answer_is_kept_past_its_use_and_not_more_than_so_many(few: int) -> None:
    settled = RecentDecisions()
    for number in range(few + 10):
        settled.remember_answer(call(number), ALLOWED, 0.0)
    assert repr(settled) == f"<RecentDecisions answers={few} notes=0>"
    settled.remember_answer(call(0), ALLOWED, ASKED_AGAIN_WITHIN + 1)
    assert repr(settled) == "<RecentDecisions answers=1 notes=0>"


def test_an_event_without_a_tool_is_remembered_and_matches_nothing() -> None:
    settled = RecentDecisions()
    bare = Event("claude", "PreToolUse", session="s")
    settled.remember_answer(bare, ALLOWED, 0.0)
    asked = Event("claude", "PermissionRequest", session="s")
    assert settled.answer_again(asked, 0.0) is None
    settled.forget(asked, EndScope.SESSION)
    assert repr(settled) == "<RecentDecisions answers=0 notes=0>"
