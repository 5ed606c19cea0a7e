"""Edit, then allow: nothing is sent that was not shown as a difference, and typed text is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crabhook.model.decision import Verdict
from tests.support.desk import PlayedDesk
from tests.support.ruled import RM_DENIED, judge_by
from tests.support.sitting import Sitting

if TYPE_CHECKING:
    pass

SENT = 1.0


def editing(command: str = "ls -l", **fields: object) -> Sitting:
    sitting = Sitting(**fields)
    sitting.ask(tool_input={"command": command, "timeout": 7})
    sitting.wait()
    sitting.press("e")
    assert "ctrl-s see the change" in sitting.help_line()
    return sitting


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
    assert sitting.screen.focus.edit is not None
    assert sitting.screen.focus.edit.editor.text == "ls -lx"


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
    assert sitting.screen.focus.edit is not None
    assert sitting.screen.focus.edit.editor.text == '{\n  "file_path": "/a"\n'


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
    ((_, decision),) = sitting.decided()
    assert decision.updated_input == {"command": "x" + hostile, "timeout": 7}


def test_the_operators_own_editor_is_asked_for_the_text_and_its_answer_is_taken() -> None:
    sitting = editing()
    sitting.press("c-o")
    errand = sitting.controller.take_errand()
    assert errand is not None
    assert (errand.text, errand.file_name) == ("ls -l", "command.sh")
    errand.done("ls\n-a")
    assert sitting.screen.focus.edit is not None
    assert sitting.screen.focus.edit.editor.text == "ls\n-a"


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
    assert sitting.screen.focus.typing is not None
    assert sitting.screen.focus.typing.box.text == "because of this"


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
