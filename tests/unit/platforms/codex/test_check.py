"""What an event can be told, and what is refused when it is decided."""

from typing import Any

import pytest

from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event, ToolCall
from crabhook.platforms.codex.events import EVENTS
from crabhook.platforms.codex.write import check, choices
from tests.support.rows import every_row

QUESTIONS: dict[str, Any] = {"questions": [{"id": "c", "question": "Which?", "options": []}]}

WITH: dict[Beside, tuple[Verdict, dict[str, Any]]] = {
    Beside.NOTE: (Verdict.ALLOW, {"note": "n"}),
    Beside.INPUT: (Verdict.ALLOW, {"updated_input": {"command": "x"}}),
    Beside.PERMISSIONS: (Verdict.ALLOW, {"permissions": ({"type": "setMode"},)}),
    Beside.OUTPUT: (Verdict.ALLOW, {"output": "x"}),
    Beside.INTERRUPT: (Verdict.DENY, {"interrupt": True}),
    Beside.HALT: (Verdict.PASS, {"halt": "enough"}),
    Beside.MESSAGE: (Verdict.PASS, {"user_message": "look"}),
    Beside.SUPPRESS: (Verdict.PASS, {"suppress_output": True}),
}


def event(name: str, tool: str = "Bash", tool_input: Any = None) -> Event:
    return Event("codex", name, tool=ToolCall(tool, tool_input) if tool else None)


def taken(event: Event, decision: Decision) -> bool:
    try:
        check(event, decision)
    except DecisionError:
        return False
    return True


@every_row("tool", ["Bash", "mcp__a__b", ""])
@every_row("name", [*EVENTS, "Brand-New"])
def test_what_is_offered_is_taken_and_nothing_else(name: str, tool: str) -> None:
    asked = event(name, tool, {"command": "y"})
    offered = choices(asked)
    assert offered.verdicts == {v for v in Verdict if taken(asked, Decision(v, reason="r"))}
    for part, (verdict, said) in WITH.items():
        can_be = verdict in offered.verdicts and part in offered.beside
        assert taken(asked, Decision(verdict, reason="r", **said)) == can_be, part


@every_row("reason", ["", " ", "\n\t"])
@every_row(
    "name, verdict",
    [
        ("PreToolUse", Verdict.DENY),
        ("PermissionRequest", Verdict.DENY),
        ("UserPromptSubmit", Verdict.DENY),
        ("PostToolUse", Verdict.DENY),
        ("Stop", Verdict.KEEP_GOING),
    ],
)
def test_without_a_reason_codex_would_go_ahead(name: str, verdict: Verdict, reason: str) -> None:
    with pytest.raises(DecisionError, match="Codex goes ahead without one"):
        check(event(name), Decision(verdict, reason=reason))


@pytest.mark.parametrize(
    ("tool", "updated", "words"),
    [
        ("Bash", {"cmd": "make"}, 'no text "command"'),
        ("apply_patch", {"command": ["a"]}, 'no text "command"'),
        ("Bash", {"command": "\ud800"}, "half a character"),
        ("mcp__a__b", {"n": 2**70}, "too many digits"),
        ("mcp__a__b", {"n": float("nan")}, "out of range"),
        ("request_user_input", QUESTIONS, "answer the questions"),
        ("request_user_input", QUESTIONS | {"answers": {"Other?": "x"}}, "answer the questions"),
        ("request_user_input", {"answers": {}}, "sent back with their answers"),
    ],
)
def test_an_input_that_codex_would_not_read_or_not_take_is_refused(
    tool: str, updated: Any, words: str
) -> None:
    with pytest.raises(DecisionError, match=words):
        check(event("PreToolUse", tool, {}), Decision(Verdict.ALLOW, updated_input=updated))


def test_answers_are_taken() -> None:
    answered = QUESTIONS | {"answers": {"Which?": "this"}}
    asked = event("PreToolUse", "request_user_input", QUESTIONS)
    check(asked, Decision(Verdict.ALLOW, updated_input=answered))
    assert Beside.RULE not in choices(asked).beside


def test_a_changed_input_that_is_refused_names_the_event() -> None:
    with pytest.raises(DecisionError, match="Codex's PermissionRequest, answered with allow"):
        check(event("PermissionRequest"), Decision(Verdict.ALLOW, updated_input={"command": "x"}))
