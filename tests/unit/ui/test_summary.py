"""A card in a few words, safe and bounded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.event import Event, ToolCall
from crabhook.ui.full.letters import safe_ascii
from crabhook.ui.safe import safe
from crabhook.ui.summary import (
    LONGEST,
    agent_label,
    brief,
    is_question,
    project,
    session_label,
    summary,
    tool_label,
)


def event(tool: str = "Bash", tool_input: Any = None, **fields: Any) -> Event:
    return Event("claude", "PreToolUse", tool=ToolCall(tool, tool_input), **fields)


@pytest.mark.parametrize(
    ("tool", "tool_input", "said"),
    [
        ("Bash", {"command": "ls -l", "description": "list"}, "ls -l"),
        ("Bash", {"command": "a\nb"}, "a␊b"),
        ("Edit", {"file_path": "/w/a.py", "old_string": "x\n", "new_string": "y\nz"}, "a.py +2 -1"),
        ("Write", {"file_path": "/etc/a", "content": ""}, "/etc/a +0"),
        ("NotebookEdit", {"notebook_path": "/w/n.ipynb", "new_source": "x"}, "n.ipynb"),
        ("ExitPlanMode", {"plan": "\n## The plan\nmore"}, "The plan"),
        ("ExitPlanMode", {}, ""),
        ("WebFetch", {"url": "https://example.com", "prompt": "p"}, "https://example.com"),
        ("mcp__x", {"a": 1, "b": [True]}, "a: 1, b: [true]"),
        ("mcp__x", 7, "7"),
        ("mcp__x", None, ""),
        ("AskUserQuestion", {"questions": [{"question": "Which?", "header": "H"}]}, "H"),
        (
            "AskUserQuestion",
            {"questions": 1},
            'unreadable: the tool\'s input has no list "questions"',
        ),
    ],
)
def test_each_kind_of_call_says_what_it_is_for(tool: str, tool_input: Any, said: str) -> None:
    assert summary(event(tool, tool_input, cwd="/w")) == said


def test_a_path_outside_the_agents_folder_is_whole() -> None:
    assert summary(event("Read", {"file_path": "/w/../etc/x"}, cwd="/w/")) == "../etc/x"
    assert summary(event("Read", {"file_path": "/work/x"}, cwd="/w")) == "/work/x"


def test_an_event_about_no_tool_goes_by_its_own_name() -> None:
    stop = Event("claude", "Stop")
    assert (tool_label(stop), summary(stop)) == ("Stop", "")
    assert not is_question(stop)


def test_an_event_about_no_tool_says_what_it_carries() -> None:
    stop = Event("claude", "Stop", fields={"message": 3, "last_assistant_message": "All done."})
    assert summary(stop) == "All done."


def test_the_main_agent_and_its_subagents_are_told_apart() -> None:
    assert agent_label(event()) == "main"
    assert agent_label(event(agent_id="a7f2b3", agent_type="Explore")) == "Explore·a7f2"
    assert agent_label(event(agent_id="a7f2b3")) == "agent·a7f2"


@pytest.mark.parametrize(
    ("cwd", "said"),
    [
        ("/home/ann/web", "web"),
        ("/home/ann/web/", "web"),
        ("C:\\x\\web", "web"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_a_project_is_the_last_part_of_its_folder(cwd: str, said: str) -> None:
    assert project(event(cwd=cwd)) == said


TEXT = st.text(max_size=50) | st.text(max_size=5).map(lambda text: text * LONGEST)
JSON = st.recursive(
    TEXT | st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(TEXT, JSON, TEXT, st.sampled_from(["command", "plan", "file_path", "x"]))
def test_every_label_is_safe_and_bounded(tool: str, value: Any, text: str, key: str) -> None:
    told = event(tool, {key: value}, cwd=text, agent_id=text, agent_type=text, session=text)
    for tell in (summary, tool_label, agent_label, project, session_label):
        said = tell(told)
        assert safe(said) == said
        assert len(said) <= (LONGEST + 10) * len("⟨U+10FFFF⟩")


@given(TEXT)
def test_an_ascii_terminal_gets_ascii_but_for_our_own_ellipsis(text: str) -> None:
    assert brief(text, safe_ascii).replace("…", "").isascii()


def test_a_large_value_costs_no_more_than_its_start() -> None:
    said = summary(event("mcp", {"list": [[1] * 10] * 500_000}))
    assert len(said) <= LONGEST + 10
