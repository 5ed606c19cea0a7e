"""The life of a card: it waits, ends once, and every hook hears of it."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from crabhook.broker import state
from crabhook.broker.cards import TooLateError
from crabhook.broker.ending import follows
from crabhook.broker.messages import FeedLine, Refusal
from crabhook.broker.pending import Limits
from crabhook.broker.sessions.live import SESSIONS_KEPT
from crabhook.model.actor import OWNER, AnsweredAtAgent, Ended, Operator, TimeUp
from crabhook.model.card import Request, Stance, State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.wording import ANSWERED_AT_AGENT, ENDS, why
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
    prompt,
)

HOOK_GONE, OPERATOR_LEFT = ENDS[Ended.HOOK_LEFT], ENDS[Ended.DESK_CLOSED]

Asked: TypeAlias = Callable[[str, str], Request]


def test_a_hook_asks_the_operator_answers_the_hook_hears(book: Playbook) -> None:
    book.asks(bash("a", "ls")).sees("#1 waiting: a")
    book.answers(1, ALLOW).sees("a hears PreToolUse allow, confirms", "#1 decided ALLOWED: a")
    book.confirms("a").sees(
        "#1 decided ALLOWED, delivered: a", "feed: #1 PreToolUse ALLOWED · delivered in 0 ms"
    )


@pytest.mark.parametrize("by", [OWNER, Operator("a1", "ann", "laptop"), Operator("", "rule x", "")])
def test_whoever_the_operator_is_their_answer_asks_for_its_receipt(
    by: Operator, book: Playbook
) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW, by)
    book.sees("a hears PreToolUse allow, confirms", "#1 decided ALLOWED: a")


@pytest.mark.parametrize("late", [ALLOW, DENY, ASK, PASS])
@pytest.mark.parametrize(
    ("ending", "state"),
    [
        (lambda book: book.answers(1, DENY), "decided"),
        (lambda book: book.waits(WAIT), "expired"),
        (lambda book: book.leaves("a"), "withdrawn"),
        (lambda book: book.closes(), "withdrawn"),
    ],
)
def test_a_late_answer_changes_nothing_and_says_so(
    ending: Callable[[Playbook], object], state: str, late: Decision, book: Playbook
) -> None:
    ending(book.asks(bash("a", "ls")))
    before = book.broker.card(1)
    with pytest.raises(TooLateError, match=rf"#1 is already {state}.*changed nothing"):
        book.answers(1, late)
    assert book.broker.card(1) is before


def test_an_answer_to_no_card_says_so(book: Playbook) -> None:
    with pytest.raises(TooLateError, match="there is no #7"):
        book.answers(7, ALLOW)


def test_a_decision_the_event_cannot_carry_is_refused_and_the_card_still_waits(
    book: Playbook,
) -> None:
    book.asks(bash("a", "ls"))
    with pytest.raises(DecisionError, match="reason"):
        book.answers(1, Decision(Verdict.DENY))
    book.answers(1, ALLOW).sees("a hears PreToolUse allow, confirms", "#1 decided ALLOWED: a")


@pytest.mark.parametrize("asked", [bash, prompt])
def test_expiry_leaves_the_hook_to_its_own_fallback_and_never_allows(
    asked: Asked, book: Playbook
) -> None:
    book.asks(asked("a", "ls"))
    book.waits(WAIT - 0.001).sees()
    book.waits(0.001).sees(
        "a refused UNDECIDED",
        "#1 expired: a",
        f"feed: #1 {'PreToolUse' if asked is bash else 'PermissionRequest'} "
        f"EXPIRED {why(TimeUp(follows(asked('a', 'ls'))))}",
    )


def test_a_hook_that_is_turned_away_is_told_why(book: Playbook) -> None:
    book.asks(bash("a", "ls")).closes()
    assert book.effects[0].refusal == OPERATOR_LEFT  # type: ignore[union-attr]


def test_the_broker_asks_to_be_woken_for_the_next_deadline(book: Playbook) -> None:
    book.asks(bash("a", "ls", wait=50))
    assert book.alarm == book.now + 50
    book.asks(bash("b", "ls", "t2", wait=20))
    assert book.alarm == book.now + 20
    book.asks(bash("c", "ls", "t3", wait=90))
    assert book.alarm == book.now + 20
    book.waits(20)
    assert book.alarm == book.now + 30


def test_only_what_is_due_expires(book: Playbook) -> None:
    book.asks(bash("a", "ls", wait=50)).asks(bash("b", "ls", "t2", wait=20))
    book.waits(30)
    assert [card.number for card in book.broker.waiting()] == [1]


def test_a_hook_that_leaves_withdraws_its_card_at_once(book: Playbook) -> None:
    book.asks(bash("a", "ls"))
    book.leaves("a").sees("#1 withdrawn: a", f"feed: #1 PreToolUse WITHDRAWN {HOOK_GONE}")
    book.waits(WAIT).sees()


def test_closing_turns_all_away_so_that_hooks_that_fail_closed_deny(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(prompt("b", "rm", agent="sub"))
    book.closes().sees(
        "a refused CLOSED",
        "#1 withdrawn: a",
        f"feed: #1 PreToolUse WITHDRAWN {OPERATOR_LEFT}",
        "b refused CLOSED",
        "#2 withdrawn: b",
        f"feed: #2 PermissionRequest WITHDRAWN {OPERATOR_LEFT}",
    )
    assert not book.broker.waiting()


@pytest.mark.parametrize(
    ("verdict", "said"),
    [(ALLOW, "PreToolUse allow"), (ASK, "PreToolUse ask"), (PASS, "nothing")],
)
def test_every_verdict_reaches_the_hook_in_its_words(
    verdict: Decision, said: str, book: Playbook
) -> None:
    book.asks(bash("a", "ls")).answers(1, verdict)
    book.sees(f"a hears {said}, confirms", f"#1 decided {verdict.verdict.done}: a")


def test_what_the_hook_never_confirmed_was_not_delivered(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, DENY).waits(5)
    assert book.broker.card(1).delivered is None  # type: ignore[union-attr]
    book.confirms("a", whole=False).sees(
        "#1 decided DENIED, NOT DELIVERED: a",
        "feed: #1 PreToolUse DENIED · NOT DELIVERED, the hook did not take it, after 5000 ms",
    )


def test_a_receipt_after_all_is_believed_and_one_is_enough(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW).confirms("a", whole=False)
    book.confirms("a").sees(
        "#1 decided ALLOWED, delivered: a", "feed: #1 PreToolUse ALLOWED · delivered in 0 ms"
    )
    book.confirms("a", whole=False).sees()


@pytest.mark.parametrize("ticket", ["a", "b"])
def test_a_receipt_for_what_nobody_decided_is_no_news(ticket: str, book: Playbook) -> None:
    book.asks(bash("a", "ls")).confirms(ticket).sees()
    book.waits(WAIT).confirms(ticket).sees()


# Tickets.


def test_the_same_ticket_on_a_new_connection_takes_the_same_place(book: Playbook) -> None:
    book.asks(bash("a", "ls"))
    book.asks(bash("a", "ls")).sees("a refused SUPERSEDED")
    book.leaves("a", attempt=1).sees()
    book.answers(1, ALLOW).sees("a/2 hears PreToolUse allow, confirms", "#1 decided ALLOWED: a")


def test_the_new_connection_leaving_withdraws(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(bash("a", "ls"))
    book.leaves("a").sees("#1 withdrawn: a", f"feed: #1 PreToolUse WITHDRAWN {HOOK_GONE}")


def test_another_secret_cannot_take_a_place_that_waits(book: Playbook) -> None:
    book.asks(bash("a", "ls"))
    book.asks(bash("a", "ls", secret="guess")).sees("a/2 refused NOT_YOURS")
    book.leaves("a", attempt=2).sees()
    book.answers(1, ALLOW).sees("a hears PreToolUse allow, confirms", "#1 decided ALLOWED: a")


def test_another_secret_cannot_fetch_an_answer(book: Playbook) -> None:
    book.asks(bash("a", "ls")).answers(1, ALLOW)
    book.asks(bash("a", "ls", secret="guess")).sees("a/2 refused NOT_YOURS")


@pytest.mark.parametrize("decision", [ALLOW, DENY, ASK, PASS])
def test_an_answer_not_received_is_given_again_and_not_asked_twice(
    decision: Decision, book: Playbook
) -> None:
    book.asks(bash("a", "ls")).answers(1, decision)
    first = book.effects[0].reply  # type: ignore[union-attr]
    book.asks(bash("a", "ls"))
    (again,) = book.effects
    assert (again.attempt, again.reply, again.confirm) == (2, first, True)  # type: ignore[union-attr]
    book.confirms("a")
    assert book.broker.card(1).delivered  # type: ignore[union-attr]


def test_an_expiry_not_received_is_told_again(book: Playbook) -> None:
    book.asks(bash("a", "ls")).waits(WAIT)
    book.asks(bash("a", "ls")).sees("a/2 refused UNDECIDED")


def test_a_ticket_that_was_withdrawn_asks_again_and_keeps_its_new_time(book: Playbook) -> None:
    book.asks(bash("a", "ls", wait=30)).leaves("a")
    book.asks(bash("a", "ls", wait=60)).sees("#2 waiting: a")
    book.waits(30).sees()
    book.answers(2, ALLOW).sees("a/2 hears PreToolUse allow, confirms", "#2 decided ALLOWED: a")


# What is only watched.


@pytest.mark.parametrize("name", ["Notification", "SessionStart", "Stop", "Brand-New", "?"])
def test_observed_and_unknown_events_never_wait(name: str, book: Playbook) -> None:
    book.asks(asking("a", name)).sees("a hears nothing", f"feed: {name}")
    assert not book.broker.waiting()


def test_a_companion_leaves_pre_tool_use_alone(book: Playbook) -> None:
    book.asks(bash("a", "ls", stance=Stance.COMPANION)).sees("a hears nothing", "feed: PreToolUse")


def test_the_feed_keeps_the_start_of_a_payload_and_not_everything(book: Playbook) -> None:
    for number in range(state.FEED_KEPT + 5):
        book.asks(asking(f"n{number}", "Notification", a="x" * 1000, message="x" * 5000, z=[1]))
    assert len(book.broker.feed()) == state.FEED_KEPT
    assert all(len(str(entry.event.fields)) < 3_000 for entry in book.broker.feed())
    assert all(entry.event.text("message")[:9] == "x" * 9 for entry in book.broker.feed())
    book.asks(bash("a", "ls")).answers(1, DENY)
    assert all(not one.event.fields for one in book.broker.feed() if one.number is not None)


def test_when_too_many_wait_the_next_is_refused_and_those_that_wait_stay() -> None:
    most = 20
    book = Playbook(bounds=Limits(requests=most))
    for number in range(most):
        book.asks(bash(f"a{number}", "ls", session=f"s{number}"))
    turned_away = f"feed: PreToolUse turned away: {Refusal.FULL}"
    book.asks(bash("b", "ls", session="b")).sees("b refused FULL", turned_away)
    book.asks(bash("a0", "ls", session="s0")).sees("a0 refused SUPERSEDED")
    book.asks(asking("c", "Stop", session="c")).sees("c hears nothing", "feed: Stop")
    book.answers(1, DENY)
    book.asks(bash("b", "ls", session="b")).sees(f"#{most + 1} waiting: b")


def test_a_session_that_asks_without_end_leaves_room_for_the_others() -> None:
    most = 20
    book = Playbook(bounds=Limits(session_requests=most))
    for number in range(most):
        book.asks(bash(f"a{number}", "ls", f"t{number}"))
    turned_away = f"feed: PreToolUse turned away: {Refusal.SESSION_FULL}"
    book.asks(bash("b", "ls", "t")).sees("b refused SESSION_FULL", turned_away)
    book.asks(bash("c", "ls", "t", session="other")).sees(f"#{most + 1} waiting: c")
    book.leaves("a0")
    book.asks(bash("b", "ls", "t")).sees(f"#{most + 2} waiting: b")


def test_the_refusals_of_one_session_are_one_line_of_the_feed_with_their_count() -> None:
    book = Playbook(bounds=Limits(session_requests=1))
    book.asks(bash("a", "ls", "t")).asks(bash("o", "ls", "t", session="other"))
    for number in range(120):
        book.asks(bash(f"b{number}", f"echo {number}", f"t{number}"))
    book.asks(bash("p", "pwd", "u", session="other"))
    lines = [entry.text for entry in book.broker.feed() if "turned away" in entry.text]
    assert lines == [
        f"turned away 120 times so far: {Refusal.SESSION_FULL}",
        f"turned away: {Refusal.SESSION_FULL}",
    ]


def test_of_many_refusals_the_first_is_told_and_each_doubling() -> None:
    book = Playbook(bounds=Limits(session_requests=1))
    book.asks(bash("a", "ls", "t"))
    told = []
    for number in range(120):
        book.asks(bash(f"b{number}", f"echo {number}", f"t{number}"))
        told += [number + 1] if any(isinstance(one, FeedLine) for one in book.effects) else []
    assert told == [1, 2, 4, 8, 16, 32, 64]


def test_sessions_are_counted_until_they_end_and_not_without_end(book: Playbook) -> None:
    book.asks(asking("a", "SessionStart")).asks(asking("b", "SessionStart", session="t"))
    assert book.broker.sessions() == 2
    book.asks(asking("c", "SessionEnd"))
    assert book.broker.sessions() == 1
    for number in range(SESSIONS_KEPT):
        book.asks(asking(f"d{number}", "SessionStart", session=str(number)))
    assert book.broker.sessions() == SESSIONS_KEPT


def test_a_broker_tells_in_short_what_it_holds(book: Playbook) -> None:
    book.asks(bash("a", "ls"))
    assert "waiting=1" in repr(book.broker)
    assert "secret" not in repr(book.broker)


# The person at the agent's terminal answered first.


@pytest.mark.parametrize(
    ("event", "outcome"),
    [
        ("PostToolUse", "it ran"),
        ("PostToolUseFailure", "it ran and failed"),
        ("PermissionDenied", "the agent's own classifier denied it"),
    ],
)
def test_the_end_of_a_call_ends_its_card_and_tells_how_it_went(
    event: str, outcome: str, book: Playbook
) -> None:
    book.asks(prompt("a", "ls"))
    book.asks(done("z", "ls", event=event)).sees(
        "z hears nothing",
        "a refused OVER",
        "#1 withdrawn: a",
        f"feed: #1 PermissionRequest WITHDRAWN {ANSWERED_AT_AGENT}: {outcome}",
        f"feed: {event}",
    )


@pytest.mark.parametrize(
    "event", ["PostToolBatch", "Stop", "StopFailure", "SubagentStop", "UserPromptSubmit"]
)
@pytest.mark.parametrize(("mover", "other"), [("", "sub"), ("sub", ""), ("sub", "sub2")])
def test_the_turn_of_an_agent_ends_its_cards_and_no_other_agents(
    mover: str, other: str, event: str, book: Playbook
) -> None:
    book.asks(prompt("a", "ls", agent=mover)).asks(prompt("b", "ls", agent=other))
    book.asks(prompt("c", "rm", agent=mover)).asks(prompt("d", "ls", session="else"))
    book.asks(asking("z", event, agent=mover))
    assert [card.number for card in book.broker.waiting()] == [2, 4]
    assert book.broker.card(3).state is State.WITHDRAWN  # type: ignore[union-attr]


def test_the_end_of_a_session_ends_all_its_cards_and_no_others(book: Playbook) -> None:
    book.asks(prompt("a", "ls")).asks(prompt("b", "ls", agent="sub"))
    book.asks(prompt("c", "ls", session="else")).asks(asking("z", "SessionEnd"))
    assert [card.number for card in book.broker.waiting()] == [3]


@pytest.mark.parametrize("event", ["Notification", "SubagentStart", "PreCompact", "TaskCompleted"])
def test_what_says_nothing_about_a_call_ends_none(event: str, book: Playbook) -> None:
    book.asks(prompt("a", "ls")).asks(asking("z", event))
    assert len(book.broker.waiting()) == 1


def test_one_result_ends_one_call_and_never_its_twin(book: Playbook) -> None:
    book.asks(prompt("a", "ls")).asks(prompt("b", "ls")).asks(done("z", "ls"))
    assert [card.number for card in book.broker.waiting()] == [2]


ASKING = "PermissionRequest"


def test_a_result_ends_the_twin_with_its_id_first(book: Playbook) -> None:
    book.asks(prompt("a", "ls")).asks(calling("b", {"command": "ls"}, "t2", event=ASKING))
    book.asks(calling("c", {"command": "ls"}, "t3", event=ASKING)).asks(done("z", "ls", "t3"))
    assert [card.number for card in book.broker.waiting()] == [1, 2]


def test_a_twins_result_takes_no_leg_from_a_card_with_another_id(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(prompt("b", "ls")).asks(done("z", "ls", "t2"))
    (card,) = book.broker.waiting()
    assert [leg.id for leg in card.requests] == ["a", "b"]


def test_the_result_of_another_input_tool_or_agent_ends_nothing(book: Playbook) -> None:
    book.asks(prompt("a", "ls")).asks(done("x", "rm")).asks(done("y", "ls", agent="sub"))
    book.asks(done("z", "ls", tool="Shell"))
    assert len(book.broker.waiting()) == 1


def test_a_question_answered_at_the_agent_is_known_by_its_questions(book: Playbook) -> None:
    questions = {"questions": [{"question": "Which?", "options": [{"label": "A"}]}]}
    answered = {**questions, "answers": {"Which?": "A"}}
    book.asks(calling("a", questions, event="PermissionRequest", tool="AskUserQuestion"))
    book.asks(calling("z", answered, "t1", event="PostToolUse", tool="AskUserQuestion"))
    assert book.broker.card(1).end == AnsweredAtAgent("answered A")  # type: ignore[union-attr]
