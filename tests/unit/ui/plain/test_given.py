from typing import Any

import pytest

from crabhook.model.event import Event, ToolCall
from crabhook.ui.plain.request import given_rows
from tests.support.documents import document_of


def shown(tool: str, given: Any, longest: int = 10_000) -> list[str]:
    event = Event("claude", "PreToolUse", tool=ToolCall(tool, given))
    return [row.line for row in given_rows(document_of(event), longest)]


def test_a_command_is_shown_line_by_line() -> None:
    assert shown("Bash", {"command": "cd a &&\n\tmake", "description": "Build it"}) == [
        "  command:",
        "    cd a &&",
        "        make",
        "  description: Build it",
    ]


def test_what_is_not_known_is_shown_as_json_beside_it() -> None:
    assert shown("Bash", {"command": "ls", "dangerouslyDisableSandbox": True}) == [
        "  command:",
        "    ls",
        "  other input:",
        "    {",
        '      "dangerouslyDisableSandbox": true',
        "    }",
    ]


def test_a_carriage_return_in_a_command_stays_visible() -> None:
    assert shown("Bash", {"command": "ls\r\nrm x\r"})[1:] == ["    ls␍", "    rm x␍"]


def test_an_edit_is_a_diff_with_nothing_left_out() -> None:
    given = {"file_path": "/a.py", "old_string": "a\nb\nc", "new_string": "a\nB\nc\nd"}
    assert shown("Edit", given) == [
        "  file_path: /a.py",
        "  change:",
        "     a",
        "    -b",
        "    +B",
        "     c",
        "    +d",
    ]


def test_an_edit_too_long_to_compare_is_shown_as_taken_out_and_put_in() -> None:
    old, new = "\n".join("a" * 300), "\n".join("a" * 301)
    lines = shown("Edit", {"old_string": old, "new_string": new})
    assert lines == ["  change:", *["    -a"] * 300, *["    +a"] * 301]


def test_several_edits_are_shown_one_by_one() -> None:
    edits = [
        {"old_string": "a", "new_string": "b", "replace_all": True},
        {"old_string": "c", "new_string": 5},
    ]
    assert shown("MultiEdit", {"edits": edits}) == [
        "  1 of 2:",
        "  change:",
        "    -a",
        "    +b",
        "  with:",
        "    {",
        '      "replace_all": true',
        "    }",
        "  2 of 2:",
        "  with:",
        "    {",
        '      "old_string": "c",',
        '      "new_string": 5',
        "    }",
    ]


def test_a_written_file_is_all_put_in() -> None:
    assert shown("Write", {"file_path": "/a", "content": "x\ny\n"}) == [
        "  file_path: /a",
        "  content:",
        "    +x",
        "    +y",
        "    +",
    ]


def test_a_plan_is_shown_whole() -> None:
    assert shown("ExitPlanMode", {"plan": "# Plan\n1. go"}) == [
        "  plan:",
        "    # Plan",
        "    1. go",
    ]


@pytest.mark.parametrize(("given", "text"), [(None, "null"), ("x\ny", '"x\\ny"'), ({}, "{}")])
def test_an_input_of_any_kind_is_shown(given: Any, text: str) -> None:
    assert shown("Odd", given) == ["  input:", f"    {text}"]


def test_an_event_without_a_tool_is_shown_itself() -> None:
    event = Event("claude", "Odd", fields={"message": "m", "x": "é"})
    lines = [row.line for row in given_rows(document_of(event), 1000)]
    assert lines == [
        "  message: m",
        "  other fields:",
        "    {",
        '      "x": "é"',
        "    }",
    ]


def test_a_tools_result_is_shown_after_what_it_was_given() -> None:
    tool = ToolCall("Bash", {"command": "ls"}, "t1")
    fields: dict[str, Any] = {"tool_name": "Bash", "tool_input": {}, "tool_response": "a\nb"}
    lines = [
        row.line
        for row in given_rows(document_of(Event("claude", "X", tool=tool, fields=fields)), 1000)
    ]
    assert lines == ["  command:", "    ls", "  tool_response:", "    a", "    b"]


def test_questions_and_options_are_shown_by_number() -> None:
    questions = [
        {
            "question": "Which library?",
            "header": "Library",
            "options": [{"label": "msgspec", "description": "fast", "preview": "a\nb"}],
        },
        {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": True},
        {"question": "Name?", "kind": "text"},
        {"question": "How many?", "kind": "number", "options": []},
    ]
    assert shown("AskUserQuestion", {"questions": questions, "title": "T"}) == [
        "  1. Library: Which library? (one)",
        "     1) msgspec — fast",
        "        a",
        "        b",
        "  2. Which? (several)",
        "     1) A",
        "     2) B",
        "  3. Name? (own words)",
        "  4. How many? (own words, a number)",
        "  other input:",
        "    {",
        '      "title": "T"',
        "    }",
    ]


def test_questions_that_cannot_be_read_are_shown_as_they_came() -> None:
    assert shown("AskUserQuestion", {"questions": []}) == [
        '  these questions cannot be read: the tool\'s input has no list "questions"',
        "  input:",
        "    {",
        '      "questions": []',
        "    }",
    ]


def test_of_long_json_no_more_is_written_than_is_shown() -> None:
    lines = shown("Any", {"many": list(range(100_000))}, 100)
    assert lines[-1] == "  … the rest of it is left out …"
    assert len("\n".join(lines)) < 500


def test_of_a_long_text_the_middle_is_left_out() -> None:
    lines = shown("Bash", {"command": "start\n" + "x\n" * 5000 + "end"}, 100)
    assert lines[1] == "    start"
    assert lines[-1] == "    end"
    assert "  … 9909 characters left out here …" in lines
