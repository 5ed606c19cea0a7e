"""Several hooks ask about one call: which are one card, and which only look alike."""

from dataclasses import replace
from typing import Any

import pytest

from crabhook.broker.cards import (
    conflict,
    joins,
    named,
    over,
    result_of,
    same_agent,
    same_call,
)
from crabhook.broker.recent import ASKED_AGAIN_WITHIN
from crabhook.model.card import Request
from crabhook.model.event import EndScope, Event, ToolCall
from crabhook.model.order import Order, OrderKind
from tests.support.playbook import ALLOW, DENY, Playbook, bash, calling, prompt


def event(tool_input: object, use_id: str = "", name: str = "PreToolUse", **more: str) -> Event:
    return Event("claude", name, session="s", tool=ToolCall("Bash", tool_input, use_id), **more)  # type: ignore[arg-type]


# The legs of one call.


def test_both_legs_of_a_call_are_one_card_and_each_hears_its_own_words(book: Playbook) -> None:
    book.asks(bash("a", "ls")).sees("#1 waiting: a")
    book.asks(prompt("b", "ls")).sees("#1 waiting: a b")
    book.answers(1, DENY).sees(
        'a hears PreToolUse deny {"permissionDecisionReason": "not here"}, confirms',
        'b hears PermissionRequest deny {"message": "not here"}, confirms',
        "#1 decided DENIED: a b",
    )


def test_a_leg_that_leaves_or_expires_leaves_the_other_waiting(book: Playbook) -> None:
    book.asks(bash("a", "ls", wait=50)).asks(prompt("b", "ls", wait=80))
    book.asks(calling("c", {"command": "ls"}, "t1", wait=90)).sees("#1 waiting: a b c")
    book.waits(50).sees("a refused UNDECIDED", "#1 waiting: b c")
    book.leaves("b").sees("#1 waiting: c")
    book.answers(1, ALLOW).sees("c hears PreToolUse allow, confirms", "#1 decided ALLOWED: c")


def test_two_installations_asking_about_one_call_are_one_card(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t1")).sees("#1 waiting: a b")


def test_one_receipt_of_two_legs_is_a_delivery(book: Playbook) -> None:
    book.asks(bash("a", "ls")).asks(prompt("b", "ls")).answers(1, ALLOW)
    book.confirms("b").confirms("a", whole=False).sees()
    assert book.broker.card(1).delivered  # type: ignore[union-attr]


# Calls that look alike.


def test_two_parallel_identical_calls_are_two_cards(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2")).sees("#2 waiting: b")
    book.asks(prompt("c", "rm")).asks(prompt("d", "rm")).sees("#4 waiting: d")


def test_a_call_with_an_id_does_not_join_a_prompt_that_came_before_it(book: Playbook) -> None:
    book.asks(prompt("a", "ls")).asks(bash("b", "ls")).sees("#2 waiting: b")


def test_a_prompt_that_two_calls_could_mean_is_a_card_of_its_own(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2"))
    book.asks(prompt("c", "ls")).sees("#3 waiting: c")


def test_a_prompt_does_not_join_one_twin_when_the_other_was_just_here(book: Playbook) -> None:
    book.asks(bash("a", "ls", "t1")).asks(bash("b", "ls", "t2")).leaves("a")
    book.asks(prompt("c", "ls")).sees("#3 waiting: c")
    book.waits(ASKED_AGAIN_WITHIN + 1).asks(prompt("d", "ls")).sees("#2 waiting: b d")


@pytest.mark.parametrize(
    "other",
    [
        {"command": "ls", "dangerouslyDisableSandbox": True},
        {"command": "ls "},
        {"command": ["ls"]},
        {},
        None,
        "ls",
    ],
)
def test_a_prompt_for_another_input_is_another_call(other: object, book: Playbook) -> None:
    book.asks(bash("a", "ls"))
    book.asks(calling("b", other, event="PermissionRequest")).sees("#2 waiting: b")


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (1, 1.0), ({"a": 0}, {"a": -0.0})]
)
def test_inputs_that_only_python_calls_equal_are_not_the_same(one: object, other: object) -> None:
    assert one == other
    assert not same_call(event(one), event(other))


def test_the_order_of_keys_says_nothing() -> None:
    assert same_call(event({"a": 1, "b": 2}), event({"b": 2, "a": 1}))


def test_legs_join_only_when_id_tool_and_input_agree() -> None:
    assert same_call(event("x", "t1"), event("x", "t1"))
    assert same_call(event("x", "t1"), event("x"))
    other_tool = replace(event("x", "t1"), tool=ToolCall("Shell", "x", "t1"))
    for other in (event("x", "t2"), event("y", "t1"), other_tool):
        assert not same_call(event("x", "t1"), other)
        assert not joins([event("x", "t1")], other)
    assert conflict(event("x", "t1"), event("y", "t1"))
    assert conflict(event("x", "t1"), other_tool)
    assert not conflict(event("x", "t1"), event("x", "t2"))
    assert not conflict(event("x", "t1"), event("y"))


def test_an_event_without_a_tool_is_no_call() -> None:
    none = Event("claude", "PreToolUse", session="s")
    assert not same_call(none, none)
    assert not result_of(none, none)
    assert not named(none)


@pytest.mark.parametrize("more", [{"session": "z"}, {"agent_id": "z"}, {"platform": "z"}])
def test_another_agent_makes_another_call_even_under_the_same_id(more: dict[str, str]) -> None:
    facts = {"platform": "claude", "session": "s", "agent_id": "", **more}
    tool = ToolCall("Bash", "x", "t1")
    other = Event(name="PreToolUse", tool=tool, **facts)  # type: ignore[arg-type]
    assert not same_agent(event("x", "t1"), other)
    assert not same_call(event("x", "t1"), other)


def test_a_result_may_hold_more_than_was_asked_and_never_less() -> None:
    asked = event({"a": 1, "b": [2]})
    assert result_of(asked, event({"a": 1, "b": [2], "answers": {}}, "t1", "PostToolUse"))
    assert not result_of(asked, event({"a": 1}, "t1", "PostToolUse"))
    assert not result_of(asked, event({"a": True, "b": [2]}, "t1", "PostToolUse"))
    assert not same_call(asked, event({"a": 1, "b": [2], "answers": {}}))


def test_a_third_kind_of_leg_may_join() -> None:
    legs = [event("x", "t1"), event("x", name="PermissionRequest")]
    assert joins(legs, event("x", name="Other"))
    assert not joins(legs, event("x", name="PermissionRequest"))


@pytest.mark.parametrize(
    ("closes", "ended"),
    [
        (EndScope.NOTHING, []),
        (EndScope.RESULT, []),
        (EndScope.CALL, ["call"]),
        (EndScope.AGENT, ["call", "agent"]),
        (EndScope.SESSION, ["call", "agent", "session"]),
    ],
)
def test_news_ends_as_much_as_it_closes(closes: EndScope, ended: list[str]) -> None:
    waiting = {
        "call": event("x", "t1"),
        "agent": event("x", "t2"),
        "session": event("x", "t1", agent_id="sub"),
        "none": Event("claude", "PreToolUse", session="z", tool=ToolCall("Bash", "x", "t1")),
    }
    news = event("x", "t1", "PostToolUse")
    assert [name for name, one in waiting.items() if over(one, news, closes)] == ended


# An agent whose calls have no ids, and which shows no dialog while a hook is asked: Gemini CLI.


def gemini(ticket: str, event: str = "BeforeTool", command: str = "ls", **fields: Any) -> Request:
    given = {"command": command}
    how = {"event": event, "tool": "run_shell_command", "platform": "gemini"}
    return calling(ticket, given, **how, **fields)


def test_the_result_of_one_call_never_lets_its_waiting_twin_go(book: Playbook) -> None:
    book.asks(gemini("a")).asks(gemini("b")).sees("#2 waiting: b")
    book.answers(1, ALLOW)
    book.asks(gemini("a-done", "AfterTool")).sees("a-done hears {}", "feed: AfterTool")
    assert [card.number for card in book.broker.waiting()] == [2]
    book.answers(2, DENY).sees(
        'b hears {"decision": "deny", "reason": "not here"}, confirms', "#2 decided DENIED: b"
    )


def test_a_call_made_again_is_asked_about_again(book: Playbook) -> None:
    book.asks(gemini("a")).answers(1, ALLOW)
    book.asks(gemini("a-done", "AfterTool"))
    book.asks(gemini("b")).sees("#2 waiting: b")


def test_a_note_goes_with_the_result_of_the_call_and_of_no_other(book: Playbook) -> None:
    book.asks(gemini("a")).answers(1, replace(ALLOW, note="mind the gap"))
    book.asks(gemini("b", command="rm")).answers(2, ALLOW)
    book.asks(gemini("x", "AfterTool", "rm")).sees("x hears {}", "feed: AfterTool")
    book.asks(gemini("y", "AfterTool")).sees(
        'y hears {"additionalContext": "mind the gap"}', "feed: AfterTool"
    )
    book.asks(gemini("z", "AfterTool")).sees("z hears {}", "feed: AfterTool")


def test_a_result_that_is_held_is_not_given_the_answer_to_its_call(book: Playbook) -> None:
    book.orders(Order(OrderKind.HOLD, "AfterTool"))
    book.asks(gemini("a")).answers(1, ALLOW)
    book.asks(gemini("a-done", "AfterTool")).sees("#2 waiting: a-done")


def test_a_card_says_what_a_decision_will_not_bring_about(book: Playbook) -> None:
    book.asks(gemini("a"))
    (card,) = book.broker.waiting()
    assert len(card.limits) == 1
    book.asks(bash("c", "ls"))
    assert not book.broker.waiting()[1].limits
