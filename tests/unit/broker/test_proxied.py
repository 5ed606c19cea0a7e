"""A proxy's request beside the hooks of the same agent: one call, one question."""

import json
from dataclasses import replace
from typing import Any

import pytest

from crabhook.broker.messages import Resolve
from crabhook.model.card import Request, Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import PLATFORMS
from tests.support.playbook import ALLOW, PASS, WAIT, Playbook, bash, calling, prompt
from tests.support.rows import every_row

OPTIONS = [
    {"optionId": "once", "name": "Once", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
AGENTS = {
    "qwen": ({"name": "qwen-code"}, "run_shell_command"),
    "claude": ({"name": "@agentclientprotocol/claude-agent-acp"}, "Bash"),
}


def proxied(ticket: str, command: str = "ls", use_id: str = "t1", agent: str = "qwen", **more: Any) -> Request:  # fmt: skip
    """What our proxy asks for an agent that tells its own names of tools."""
    about, tool = AGENTS[agent]
    call = {"toolCallId": use_id, "name": tool, "_meta": {"toolName": tool}, "kind": "execute"}
    said = {
        "hook_event_name": "session/request_permission",
        "session_id": "s",
        "cwd": "/p",
        "agent": about,
        "tool_call": call | {"rawInput": {"command": command}},
        "options": OPTIONS,
        **more,
    }
    event = PLATFORMS["acp"].read(json.dumps(said).encode())
    return Request(ticket, event, WAIT, Stance.COMPANION, secret=f"secret of {ticket}")


def asked(ticket: str, command: str = "ls") -> Request:
    """The PermissionRequest of Qwen Code's hook, which has no id."""
    how = {"event": "PermissionRequest", "tool": "run_shell_command", "platform": "qwen"}
    return calling(ticket, {"command": command}, **how)


def called(ticket: str, command: str = "ls", use_id: str = "t1") -> Request:
    """The PreToolUse of Qwen Code's hook."""
    return calling(ticket, {"command": command}, use_id, tool="run_shell_command", platform="qwen")


def waiting(book: Playbook) -> list[list[str]]:
    return [[leg.id for leg in card.requests] for card in book.broker.waiting()]


def heard(book: Playbook) -> dict[str, Any]:
    """What each request was told by the last fact."""
    return {e.request_id: e.reply.output for e in book.effects if isinstance(e, Resolve)}


def test_both_share_a_card_and_its_decision(book: Playbook) -> None:
    book.asks(prompt("hook", "ls")).asks(proxied("proxy", agent="claude"))
    assert waiting(book) == [["hook", "proxy"]]
    book.answers(1, ALLOW)
    assert heard(book)["proxy"] == {"outcome": {"outcome": "selected", "optionId": "once"}}
    assert heard(book)["hook"]["hookSpecificOutput"]["decision"]["behavior"] == "allow"


SUB: dict[str, Any] = {"agent": "a1", "stance": Stance.COMPANION}
WHOSE = [
    ([bash("call", "ls", **SUB)], "a1"),
    ([bash("call", "ls", stance=Stance.COMPANION)], ""),
    ([bash("call", "ls -a", **SUB)], ""),
    ([bash("call", "ls", "t2", **SUB)], ""),
    ([bash("call", "ls", session="other", **SUB)], ""),
    ([bash("call", "ls", **SUB), bash("forged", "ls", **{**SUB, "agent": "a2"})], ""),
    ([bash("call", "ls", **SUB), bash("forged", "ls", stance=Stance.COMPANION)], ""),
]


@every_row("hooks, agent", WHOSE)
def test_a_proxys_call_is_the_subagents_whose_hook_alone_has_named_it(
    hooks: list[Request], agent: str
) -> None:
    book = Playbook()
    for hook in hooks:
        book.asks(hook)
    event = proxied("proxy", agent="claude").event
    assert book.broker.with_agent(event).agent_id == agent


def test_a_subagents_call_is_one_card_and_its_parents_like_call_another(book: Playbook) -> None:
    book.asks(bash("before", "ls", **SUB)).asks(prompt("main", "ls", stance=Stance.COMPANION))
    of_sub = proxied("proxy", agent="claude")
    book.asks(replace(of_sub, event=book.broker.with_agent(of_sub.event)))
    book.asks(prompt("hook", "ls", agent="a1", stance=Stance.COMPANION))
    assert waiting(book) == [["main"], ["proxy", "hook"]]


def test_a_shared_card_offers_what_both_can_carry(book: Playbook) -> None:
    book.asks(prompt("hook", "ls")).asks(proxied("proxy", agent="claude"))
    with pytest.raises(Exception, match="takes no changed input"):
        book.answers(1, Decision(Verdict.ALLOW, updated_input={"command": "ls -l"}))


def test_what_the_operator_left_to_the_user_is_not_asked_again(book: Playbook) -> None:
    book.asks(asked("hook")).answers(1, PASS).asks(proxied("proxy"))
    assert waiting(book) == []
    assert heard(book) == {"proxy": None}
    book.asks(called("later"))
    assert waiting(book) == [], "the hook before the call comes after both"


def test_what_was_allowed_here_is_not_asked_again_by_the_hook_before_the_call(
    book: Playbook,
) -> None:
    book.asks(proxied("proxy")).answers(1, ALLOW).asks(called("hook"))
    assert waiting(book) == []


@pytest.mark.parametrize("first", ["hook", "proxy"])
def test_what_was_left_to_the_user_before_the_call_is_asked_neither_by_hook_nor_by_proxy(
    book: Playbook, first: str
) -> None:
    """Claude Code's PermissionRequest and its request to the editor run at the same time."""
    book.asks(bash("before", "ls")).answers(1, PASS)
    both = [prompt("hook", "ls"), proxied("proxy", agent="claude")]
    for request in both if first == "hook" else reversed(both):
        book.asks(request)
    assert waiting(book) == []


def test_the_answer_on_a_shared_card_answers_no_later_call_of_the_proxy(book: Playbook) -> None:
    book.asks(asked("hook")).asks(proxied("proxy")).answers(1, ALLOW)
    book.asks(proxied("later", use_id="t2"))
    assert waiting(book) == [["later"]]


def test_an_allow_that_a_hook_took_for_its_call_is_not_the_proxys_for_another(
    book: Playbook,
) -> None:
    book.asks(asked("hook")).answers(1, ALLOW).asks(called("before"))
    assert waiting(book) == []
    book.asks(proxied("later", use_id="t2"))
    assert waiting(book) == [["later"]]


def test_a_decision_answers_the_proxy_once(book: Playbook) -> None:
    book.asks(asked("hook")).answers(1, ALLOW).asks(proxied("one"))
    assert waiting(book) == []
    book.asks(proxied("two", use_id="t2"))
    assert waiting(book) == [["two"]]


def test_another_command_is_another_card(book: Playbook) -> None:
    book.asks(asked("hook", "ls")).asks(proxied("proxy", "rm"))
    assert waiting(book) == [["hook"], ["proxy"]]


def test_two_calls_that_look_alike_are_two_cards(book: Playbook) -> None:
    book.asks(proxied("one")).asks(proxied("two", use_id="t2"))
    assert waiting(book) == [["one"], ["two"]]


def test_an_answer_in_the_editor_ends_the_card_and_says_so(book: Playbook) -> None:
    book.asks(proxied("proxy"))
    book.asks(proxied("news", hook_event_name="acp/answered", how="once"))
    card = book.broker.card(1)
    assert card is not None
    assert "answered in the editor: once" in card.why
    assert heard(book).get("proxy") is None


def test_a_denial_needs_no_words(book: Playbook) -> None:
    book.asks(proxied("proxy")).answers(1, Decision(Verdict.DENY))
    assert heard(book)["proxy"] == {"outcome": {"outcome": "selected", "optionId": "no"}}
