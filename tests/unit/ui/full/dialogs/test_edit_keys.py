"""Edit, then allow: nothing is sent that was not shown as a difference, and typed text is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crabhook.model.decision import Verdict
from crabhook.model.jsontext import at, put
from tests.support.client import sample
from tests.support.desk import PlayedDesk
from tests.support.ruled import RM_DENIED, judge_by
from tests.support.sitting import Sitting

SENT = 1.0
RECORDED = [
    ("claude", "PreToolUse-Bash", "command"),
    ("claude", "PreToolUse-Edit", "new_string"),
    ("claude", "PermissionRequest-Edit", "new_string"),
    ("claude", "PreToolUse-Write", "content"),
    ("gemini", "BeforeTool-replace", "new_string"),
    ("gemini", "BeforeTool-write_file", "content"),
    ("gemini", "BeforeTool-run_shell_command", "command"),
    ("codex", "PreToolUse-apply_patch", "command"),
    ("codex", "PreToolUse-Bash", "command"),
]
NEW = 'one "quoted"\n\ttwo\\n\n'
"""Lines with what JSON would write otherwise."""


def editing(command: str = "ls -l", **fields: object) -> Sitting:
    sitting = Sitting(**fields)
    sitting.ask(tool_input={"command": command, "timeout": 7})
    sitting.wait()
    sitting.press("e")
    assert "ctrl-s see the change" in sitting.help_line()
    return sitting


@pytest.mark.parametrize(("agent", "name", "field"), RECORDED)
def test_a_change_of_a_file_is_edited_in_real_lines_and_that_field_alone_is_another_then(
    agent: str, name: str, field: str
) -> None:
    payload = json.loads(sample(name, agent=agent))
    sitting = Sitting(take_back_ms=0)
    sitting.desk.ask(
        {**payload, "tool_input": payload["tool_input"] | {"of tomorrow": [1, True]}},
        platform=agent,
    )
    before = payload["tool_input"] | {"of tomorrow": [1, True]}
    sitting.wait()
    sitting.press("e")
    edit = sitting.edit
    assert edit is not None
    assert edit.editor.text == before[field]
    for line in before[field].split("\n"):
        assert f"│ {line}"[:60] in sitting.text()
    sitting.controller.paste(NEW)
    sitting.press("c-s")
    sitting.wait()
    sitting.press("enter")
    sitting.wait()
    sitting.press("enter")  # where the rules or the risk want a second yes
    ((_, decision),) = sitting.decided()
    text = before[field].rstrip("\n")  # the cursor begins behind its last letter
    assert decision.updated_input == {**before, field: text + NEW + before[field][len(text) :]}


@pytest.mark.parametrize(
    ("tool_input", "marked"),
    [
        ({"query": 'a "b"', "n": 7}, '{\n  "query": "a \\"b\\"|",\n  "n": 7\n}'),
        ({"deep": {"n": [-1.5, 2]}}, '{\n  "deep": {\n    "n": [\n      -1.5|,\n      2\n    ]\n  }\n}'),
        ({"one": ""}, '{\n  "one": "|"\n}'),
        ({"one": [], "two": None}, '{\n  "one": [],\n  "two": null|\n}'),
        ({}, "{}|"),
    ],
)  # fmt: skip
def test_in_json_the_cursor_begins_behind_the_first_value(tool_input: object, marked: str) -> None:
    sitting = Sitting()
    sitting.ask(tool_name="mcp__db__query", tool_input=tool_input)
    sitting.wait()
    sitting.press("e")
    edit = sitting.edit
    assert edit is not None
    here = edit.editor.document
    assert f"{here.text_before_cursor}|{here.text_after_cursor}" == marked


EDITS = {
    "file_path": "/home/ann/api-server/a.py",
    "edits": [
        {"old_string": "a", "new_string": "b\nc", "replace_all": True},
        {"old_string": "d", "new_string": "", "unknown": None},
    ],
}


@pytest.mark.parametrize(
    ("tool", "tool_input", "keys", "changed"),
    [
        ("MultiEdit", EDITS, "1", (("edits", 0, "new_string"), "b\ncx")),
        ("MultiEdit", EDITS, "2", (("edits", 1, "new_string"), "x")),
        (
            "NotebookEdit",
            {"notebook_path": "/n", "new_source": "1\n"},
            "",
            (("new_source",), "1x\n"),
        ),
        (
            "mcp__mail__send",
            {"to": ["ann"], "mail": {"subject": "s", "body": "Dear\nBob"}},
            "",
            (("mail", "body"), "Dear\nBobx"),
        ),
        (
            "mcp__mail__send",
            {"one": "a\n", "deep": [{"two": "b\n"}]},
            "2",
            (("deep", 0, "two"), "bx\n"),
        ),
    ],
)
def test_of_several_texts_one_is_chosen_and_all_else_goes_back_as_it_came(
    tool: str, tool_input: Any, keys: str, changed: Any
) -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask(tool, tool_input)
    sitting.wait()
    sitting.press("e")
    sitting.wait()
    sitting.press(*keys)
    assert "E edits all of the input, as JSON" in sitting.text()
    sitting.type("x")
    sitting.press("c-s")
    sitting.wait()
    sitting.press("enter")
    ((_, decision),) = sitting.decided()
    path, text = changed
    assert decision.updated_input == put(tool_input, path, text)
    assert tool_input == put(decision.updated_input, path, at(tool_input, path))


def test_all_of_a_change_of_a_file_can_be_edited_as_json() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask("Write", {"file_path": "/a", "content": "one\ntwo\n"})
    sitting.wait()
    sitting.press("E")
    edit = sitting.edit
    assert edit is not None
    assert (edit.subject, edit.file_name) == ("input", "input.json")
    edit.editor.replace('{"file_path": "/b", "content": ""}')
    sitting.press("c-s")
    sitting.wait()
    sitting.press("enter")
    ((_, decision),) = sitting.decided()
    assert decision.updated_input == {"file_path": "/b", "content": ""}


def test_what_was_begun_as_lines_and_as_json_is_kept_apart() -> None:
    sitting = Sitting()
    sitting.ask("Write", {"file_path": "/a.py", "content": "one\n"})
    sitting.wait()
    for key, typed, name in (("e", "x", "text.py"), ("E", " ", "input.json")):
        sitting.press(key)
        sitting.type(typed)
        assert sitting.edit is not None
        assert sitting.edit.file_name == name
        sitting.press("escape")
        sitting.wait()
    sitting.press("e")
    assert "│ onex" in sitting.text()


def change(sitting: Sitting, text: str) -> None:
    sitting.press("end")
    sitting.type(text)
    sitting.press("c-s")


def test_an_edited_command_is_sent_after_its_difference_was_read_and_its_moment_passed() -> None:
    sitting = editing()
    change(sitting, " /tmp")
    shown = sitting.text()
    assert "- ls -l" in shown
    assert "+ ls -l /tmp" in shown
    sitting.press("enter")
    assert "only just come into view" in sitting.text()
    sitting.wait()
    sitting.press("enter")
    assert not sitting.decided()  # it is held, to be taken back
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.verdict is Verdict.ALLOW
    assert decision.updated_input == {"command": "ls -l /tmp", "timeout": 7}


def test_an_edit_that_a_rule_denies_is_said_so_in_red_and_needs_a_second_yes() -> None:
    sitting = editing(desk=PlayedDesk(judge=judge_by()))
    change(sitting, "; rm -rf build")
    for question in ("the rules are against it as you changed it", "SEND IT ALL THE SAME?"):
        assert not sitting.decided()
        (warned,) = [line for line in sitting.draw().lines if question in str(line)]
        assert [look for look, text in warned if question in text] == ["warning"]
        assert "deny Bash(rm *) (use trash)" in sitting.text()
        sitting.press("enter")
        assert "only just come into view" in sitting.text()
        sitting.wait()
        sitting.press("enter")
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    assert decision.updated_input == {"command": "ls -l; rm -rf build", "timeout": 7}
    assert decision.despite == (RM_DENIED,)


def test_a_rule_written_between_the_difference_and_the_yes_is_asked() -> None:
    sitting = editing(desk=PlayedDesk())
    change(sitting, "; rm -rf build")
    sitting.wait()
    sitting.desk.read.judge = judge_by()
    sitting.press("enter")
    assert "the rules have changed since: look again" in sitting.text()
    assert "the rules are against it as you changed it" in sitting.text()
    sitting.wait(SENT)
    assert not sitting.decided()


def test_from_the_second_question_one_goes_back_to_the_text() -> None:
    sitting = editing(desk=PlayedDesk(judge=judge_by()))
    change(sitting, "; rm -rf build")
    sitting.wait()
    sitting.press("enter", "escape")
    assert "ctrl-s see the change" in sitting.help_line()
    sitting.wait(SENT)
    assert not sitting.decided()


def test_an_edited_allow_can_be_taken_back_and_the_edit_is_still_there() -> None:
    sitting = editing()
    change(sitting, "x")
    sitting.wait()
    sitting.press("y", "u")
    sitting.wait(SENT)
    assert not sitting.decided()
    sitting.press("e")
    assert sitting.edit is not None
    assert sitting.edit.editor.text == "ls -lx"


def test_from_the_difference_one_goes_back_to_the_text() -> None:
    sitting = editing()
    change(sitting, "x")
    sitting.press("escape")
    assert "ctrl-s see the change" in sitting.help_line()
    sitting.wait()
    sitting.press("escape")
    assert "enter open" in sitting.help_line()
    sitting.wait(SENT)
    assert not sitting.decided()


def test_what_cannot_be_sent_is_said_and_kept() -> None:
    sitting = Sitting()
    sitting.ask("Edit", {"file_path": "/a"})
    sitting.wait()
    sitting.press("e", "pagedown", "end", "backspace", "c-s")
    assert "ctrl-s see the change" in sitting.help_line()
    assert "JSON" in sitting.screen.notice.text
    assert sitting.edit is not None
    assert sitting.edit.editor.text == '{\n  "file_path": "/a"\n'


def test_an_edit_that_changes_nothing_is_not_sent() -> None:
    sitting = editing()
    sitting.press("c-s")
    assert "ctrl-s see the change" in sitting.help_line()
    assert "changes nothing" in sitting.screen.notice.text


def test_letters_in_the_editor_are_letters_and_decide_nothing() -> None:
    sitting = editing(take_back_ms=0)
    sitting.type("adhpxz+*OBb?")
    assert "ctrl-s see the change" in sitting.help_line()
    assert not sitting.decided()
    assert not sitting.desk.orders()


def test_an_edit_of_a_card_that_ended_is_not_sent() -> None:
    for leave_first in (True, False):
        sitting = editing(take_back_ms=0)
        if leave_first:
            sitting.leave(1)
            change(sitting, "x")
        else:
            change(sitting, "x")
            sitting.wait()
            sitting.leave(1)
            sitting.press("enter")
        assert "#1 has ended" in sitting.screen.notice.text
        assert not sitting.decided()


def test_a_difference_that_changes_has_to_be_read_anew() -> None:
    sitting = editing(take_back_ms=0)
    change(sitting, "x")
    sitting.wait()
    sitting.press("escape")
    sitting.wait()
    sitting.press("z", "c-s", "enter")
    assert not sitting.decided()


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 60), (40, 10)])
def test_the_cursor_is_in_view_wherever_it_goes(columns: int, rows: int) -> None:
    text = "\n".join(f"line {number} " + "日本 word " * 40 for number in range(50))
    sitting = editing(text, columns=columns, rows=rows)
    for key in ("end", "pagedown", "pagedown", "end", "down", "up", "pageup", "home", "left"):
        sitting.press(key)
        lines = sitting.draw().lines
        assert sum(style == "cursor" for line in lines for style, _ in line) == 1


def test_hostile_letters_are_edited_as_marks_and_sent_as_they_came() -> None:
    hostile = "ls \x1b[2J\u202e\u200b"
    sitting = editing(hostile, take_back_ms=0)
    assert "⟨U+202E⟩" in sitting.text()
    sitting.press("home")
    sitting.type("x")
    sitting.press("c-s")
    assert "\x1b" not in sitting.text()
    sitting.wait()
    sitting.press("enter")
    assert not sitting.decided(), "letters that nobody sees take a second yes"
    sitting.wait()
    sitting.press("enter")
    ((_, decision),) = sitting.decided()
    assert decision.updated_input == {"command": "x" + hostile, "timeout": 7}


def test_the_operators_own_editor_is_asked_for_the_text_and_its_answer_is_taken() -> None:
    sitting = editing()
    sitting.press("c-o")
    errand = sitting.controller.take_errand()
    assert errand is not None
    assert (errand.text, errand.file_name) == ("ls -l", "command.sh")
    errand.done("ls\n-a")
    assert sitting.edit is not None
    assert sitting.edit.editor.text == "ls\n-a"


def test_a_line_in_the_box_can_go_to_the_operators_own_editor_too() -> None:
    sitting = Sitting()
    sitting.ask()
    sitting.wait()
    sitting.press("d")
    sitting.type("no")
    sitting.press("c-x_c-e")
    errand = sitting.controller.take_errand()
    assert errand is not None
    errand.done("because\nof this")
    assert sitting.line is not None
    assert sitting.line.box.text == "because of this"


def test_a_secret_is_not_covered_from_whoever_edits_it() -> None:
    secret = "export TOKEN=ghp_" + "a1B2c3D4" * 4 + "e5F6"
    sitting = Sitting(columns=120, take_back_ms=0)
    sitting.ask(tool_input={"command": secret})
    sitting.wait()
    assert "a1B2" not in sitting.text()
    sitting.press("e", "end")
    assert secret in sitting.text()
    sitting.type("9")
    sitting.press("c-s")
    assert f"+ {secret}9" in sitting.text()
    sitting.press("escape")
    sitting.wait()
    sitting.press("escape")
    assert "a1B2" not in "\n".join(sitting.rows_of_text()[6:])
