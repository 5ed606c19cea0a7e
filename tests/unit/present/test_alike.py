"""What was decided before is told of the same tool and target alone."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.present.sentence import decided_before, target
from tests.support.desk import PlayedDesk
from tests.support.sitting import call


def decided(desk: PlayedDesk, command: str, verdict: Verdict, **fields: Any) -> None:
    desk.ask(call(tool_input={"command": command}, **fields))
    number = desk.waiting()[-1].number
    desk.answer(number, Decision(verdict, reason="no" if verdict is Verdict.DENY else ""))


def test_calls_of_the_same_program_and_subcommand_are_counted_by_verdict() -> None:
    desk = PlayedDesk()
    for command, verdict in (
        ("npm run lint", Verdict.ALLOW),
        ("cd api && npm run lint", Verdict.ALLOW),
        ("npm run lint", Verdict.DENY),
        ("npm run build", Verdict.DENY),
        ("npm run lint", Verdict.PASS),
        ("rm -r build", Verdict.DENY),
    ):
        decided(desk, command, verdict)
    desk.ask(call(tool_input={"command": "npm  run lint"}))
    said = decided_before(desk.waiting()[0], desk.replica)
    assert said == "npm run lint: 2 allowed, 1 denied lately"


def test_nothing_alike_says_nothing() -> None:
    desk = PlayedDesk()
    decided(desk, "npm ci", Verdict.ALLOW)
    desk.ask(call(tool_input={"command": "npmx ci"}))
    assert decided_before(desk.waiting()[0], desk.replica) == ""


def test_a_command_behind_more_blanks_than_a_name_is_long_has_its_program_as_target() -> None:
    tool = ToolCall("Bash", {"command": " " * 1_000 + "npm ci"})
    assert target(Event("claude", "PreToolUse", tool=tool)) == "npm ci"


@pytest.mark.parametrize(
    ("tool_input", "expected"),
    [
        ({"command": "  npm ci"}, "npm ci"),
        ({"file_path": "/a b/c.py", "content": ""}, "/a b/c.py"),
        ({"url": "https://user@x.example:9/y"}, "x.example"),
        ({"url": "https://[broken"}, ""),
        ({"command": 7, "pattern": "x"}, "x"),
        ({}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_the_target_of_a_call(tool_input: Any, expected: str) -> None:
    assert target(Event("claude", "PreToolUse", tool=ToolCall("T", tool_input))) == expected
