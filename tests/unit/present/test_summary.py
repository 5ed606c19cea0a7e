"""A card in a few words, safe and bounded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.event import Event, ToolCall
from crabhook.present.safe import safe
from crabhook.present.summary import (
    LONGEST,
    agent_label,
    brief,
    is_plan,
    is_question,
    names_plan,
    project,
    session_label,
    summary,
    tool_label,
)
from crabhook.ui.text.width import safe_ascii
from tests.support.rows import every_row


def event(tool: str = "Bash", tool_input: Any = None, **fields: Any) -> Event:
    return Event("claude", "PreToolUse", tool=ToolCall(tool, tool_input), **fields)


@every_row(
    "tool, tool_input, said",
    [
        ("Bash", {"command": "ls -l", "description": "list"}, "ls -l"),
        ("Bash", {"command": "a\nb"}, "a␊b"),
        ("Edit", {"file_path": "/w/a.py", "old_string": "x\n", "new_string": "y\nz"}, "a.py +2 -1"),
        (  # a line that stays is neither put in nor taken out
            "Edit",
            {"file_path": "/w/a.py", "old_string": "a\nb\n", "new_string": "a\nx\ny\nb\n"},
            "a.py +2 -0",
        ),
        (
            "Edit",
            {"file_path": "/w/a", "old_string": "x", "new_string": "y", "replace_all": True},
            "a +1 -1 everywhere",
        ),
        (
            "MultiEdit",
            {"file_path": "/w/a", "edits": [{"old_string": "x", "new_string": "y"}] * 2},
            "a +2 -2",
        ),
        (
            "Edit",
            {"file_path": "/w/a", "old_string": "x" * 150_000, "new_string": "y" * 60_000},
            "a",
        ),
        ("MultiEdit", {"file_path": "/w/a", "edits": [{}, 1]}, "a"),
        ("Write", {"file_path": "/etc/a", "content": ""}, "/etc/a 0 lines"),
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


PATCH = "*** Begin Patch\n*** Update File: /w/a.py\n@@\n-x\n*** Move to: b.py\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "command", "said"),
    [
        ("apply_patch", PATCH, "patch a.py, b.py"),
        ("apply_patch", f"{PATCH}; rm -r .", brief(f"{PATCH}; rm -r .")),
        ("apply_patch", PATCH.replace("-x", "-" * 30_000), "*** Begin Patch␊*** Update File"),
        ("Bash", PATCH, brief(PATCH)),
    ],
)
def test_a_patch_is_told_by_its_files_where_nothing_else_is_in_it(
    tool: str, command: str, said: str
) -> None:
    assert summary(event(tool, {"command": command}, cwd="/w")).startswith(said)


@pytest.mark.parametrize("letters", [1, 4000])
def test_questions_that_only_went_by_are_described_as_those_on_a_card(letters: int) -> None:
    options = [{"label": name, "description": "d" * letters} for name in ("Red", "Blue")]
    asked = {"questions": [{"question": "Which?", "header": "Colour", "options": options}]}
    whole = event("AskUserQuestion", asked)
    assert summary(whole.brief()) == summary(whole) == "Colour"


def test_every_agents_questions_are_questions() -> None:
    asked = {"questions": [{"id": "c", "question": "Which?", "header": "H"}]}
    for tool in ("AskUserQuestion", "request_user_input", "ask_user"):
        assert is_question(event(tool, asked))
        assert summary(event(tool, asked)) == "H"


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


@pytest.mark.parametrize(
    ("tool", "tool_input", "said"),
    [
        ("run_shell_command", {"command": "ls -l", "dir_path": "src"}, "ls -l"),
        ("replace", {"file_path": "/p/a", "old_string": "x", "new_string": "y\nz"}, "a +2 -1"),
        ("write_file", {"file_path": "/p/a", "content": "x\n"}, "a 1 line"),
        ("list_directory", {"dir_path": "/p/src"}, "src"),
        ("web_fetch", {"prompt": "read https://a.org"}, "read https://a.org"),
        ("exit_plan_mode", {"plan_filename": "plan.md"}, "plan.md"),
        ("ask_user", {"questions": [{"question": "Which?", "header": "One"}]}, "One"),
    ],
)
def test_gemini_clis_tools_are_told_by_the_same_fields(
    tool: str, tool_input: Any, said: str
) -> None:
    assert summary(Event("gemini", "BeforeTool", cwd="/p", tool=ToolCall(tool, tool_input))) == said


@pytest.mark.parametrize(
    ("tool", "plan"), [("ExitPlanMode", True), ("exit_plan_mode", True), ("Bash", False)]
)
def test_a_plan_is_known_by_its_tool(tool: str, plan: bool) -> None:
    assert is_plan(Event("claude", "PreToolUse", tool=ToolCall(tool, {}))) is plan
    assert not is_plan(Event("claude", "Stop"))


def test_a_plan_in_a_file_is_known_by_the_name_it_gives() -> None:
    named = Event("gemini", "BeforeTool", tool=ToolCall("exit_plan_mode", {"plan_filename": "p"}))
    assert names_plan(named)
    assert not names_plan(Event("claude", "PreToolUse", tool=ToolCall("ExitPlanMode", {})))
    assert not names_plan(Event("claude", "PreToolUse", tool=ToolCall("X", {"plan_filename": ""})))
    assert not names_plan(Event("claude", "PreToolUse", tool=ToolCall("ExitPlanMode", "x")))
