"""What a card asks, in one sentence, and its risk in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.actor import OrderKind
from crabhook.model.card import NO_RISK, UNTOLD, Card, Effect, Leg, Level, Risk
from crabhook.model.order import Order
from crabhook.platforms import PLATFORMS
from crabhook.present.safe import safe
from crabhook.present.sentence import _DEEDS, dangers, risk_words, sentence
from crabhook.present.summary import LONGEST, agent_name
from crabhook.vocabulary import vocabulary
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import sample
from tests.support.rows import every_row

HELD = ("Stop", "PermissionDenied", "PostToolUse", "UserPromptSubmit")


def card(name: str, **changes: Any) -> Card:
    desk = PlayedDesk()
    for held in HELD:
        desk.order(Order(OrderKind.HOLD, name=held))
    desk.ask(sample(name, cwd="/w", **changes))
    return desk.waiting()[0]


def call(tool: str, given: Any) -> Card:
    return card("PreToolUse-Bash", tool_name=tool, tool_input=given)


@every_row(
    "asked, short, whole",
    [
        (
            call("Bash", {"command": "rm -rf build && npm ci"}),
            "wants to run a command",
            "wants to run: rm -rf build && npm ci",
        ),
        (
            call("Edit", {"file_path": "/w/a.py", "old_string": "x\n", "new_string": "y\nz\n"}),
            "wants to edit a file",
            "wants to edit: a.py +2 -1",
        ),
        (
            call("WebFetch", {"url": "https://example.org/x", "prompt": "read it"}),
            "wants to fetch a page",
            "wants to fetch: https://example.org/x",
        ),
        (
            call("mcp__github__create_issue", {"title": "t"}),
            "wants to use the tool create_issue of github",
            "wants to use the tool create_issue of github: title: t",
        ),
        (
            card("PreToolUse-AskUserQuestion"),
            "asks you 2 questions",
            "asks you 2 questions",
        ),
        (card("PreToolUse-ExitPlanMode"), "wants to leave plan mode", "wants to leave plan mode"),
        (card("Stop"), "wants to stop", "wants to stop"),
        (
            card("Elicitation", mcp_server_name="github"),
            "asks you to answer a form of github",
            "asks you to answer a form of github",
        ),
        (
            card("Elicitation", mcp_server_name="github", mode="url"),
            "asks you to open an address for github",
            "asks you to open an address for github",
        ),
        (
            card("PostToolUse-Bash", tool_input={"command": "ls"}),
            "shows the result of a call",
            "shows the result of a call: ls",
        ),
        (
            card("UserPromptSubmit", prompt="mend it"),
            "reports UserPromptSubmit",
            "reports UserPromptSubmit: mend it",
        ),
    ],
)
def test_a_card_asks_in_one_sentence(asked: Card, short: str, whole: str) -> None:
    said = sentence(asked)
    assert (str(said), said.whole) == (short, whole)


def test_one_question_is_told_with_its_text() -> None:
    samples = Path("tests/samples/claude/PreToolUse-AskUserQuestion.json")
    first = json.loads(samples.read_text())["tool_input"]["questions"][:1]
    said = sentence(card("PreToolUse-AskUserQuestion", tool_input={"questions": first}))
    assert said.whole == f"asks you: {first[0]['question']}"


def test_every_agent_has_its_makers_name_and_its_tools_the_same_deeds() -> None:
    for platform in PLATFORMS.values():
        for own, name in platform.tools.aliases.items():
            told = name in _DEEDS or own in vocabulary().questions | vocabulary().plans
            assert told, own
    assert agent_name(call("Bash", {}).event) == "Claude Code"


@given(st.text(max_size=600), st.text(max_size=600))
def test_a_sentence_is_safe_and_bounded_whatever_was_sent(name: str, text: str) -> None:
    event = call("Bash", {}).event
    hostile = {"tool_name": name or "x", "tool_input": {"command": text}}
    read = PLATFORMS["claude"].read(json.dumps({**event.fields, **hostile}).encode())
    said = sentence(Card(1, (Leg("r", read, 600.0),), 0.0)).whole
    assert said == safe(said)
    assert len(safe(text[:LONGEST])) + len(safe(name[:LONGEST])) + 60 >= len(said)


RISK = Risk(
    Level.DANGER,
    (
        Effect("deletes", Level.DANGER, "deletes ../cache (OUTSIDE)"),
        Effect("network", Level.CAUTION, "network"),
        Effect("pushes", Level.CAUTION, "pushes"),
    ),
    ("frobnicate",),
)


@pytest.mark.parametrize(
    ("risk", "said"),
    [
        (
            RISK,
            "danger: deletes ../cache (OUTSIDE). caution: network; pushes. not known: frobnicate",
        ),
        (NO_RISK, "no known risk"),
        (UNTOLD, "caution: effect unknown"),
        (Risk(unknown=("x: not known here",)), "no known risk. not known: x: not known here"),
        (
            Risk(Level.CAUTION, (Effect("network", Level.CAUTION, "network \x1b[2J\nok"),)),
            "caution: network ␛[2J␊ok",
        ),
    ],
)
def test_risk_is_told_with_its_level_and_is_never_called_safe(risk: Risk, said: str) -> None:
    assert risk_words(risk) == said
    assert "safe" not in said


def test_what_wants_a_second_yes_is_named() -> None:
    assert dangers(RISK) == ("deletes ../cache (OUTSIDE)",)
    assert dangers(UNTOLD) == ()


@pytest.mark.parametrize(
    ("invoked", "by"),
    [("user", "you"), ("claude", "Claude"), ("other", "another program or agent")],
)
def test_a_skills_line_tells_its_skill_and_who_started_it(invoked: str, by: str) -> None:
    asked = sentence(card("PreSkillShellCommand-invoked-by-user", invoked_by=invoked))
    assert str(asked) == f"runs part of skill probe, started by {by}"
    assert asked.whole.endswith(": touch skill-ran.txt; echo hello-from-skill")


def test_a_skills_card_says_that_older_versions_run_its_lines_unseen() -> None:
    (limit,) = call("Skill", {"skill": "probe"}).limits
    assert "unseen" in limit
    assert not call("Bash", {"command": "ls"}).limits
