"""An edit is sent within the whole input, and what is shown is read from what would be sent."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.order import Order
from crabhook.ui.commands.decide import RewriteError
from crabhook.ui.edits import asked_tool
from crabhook.ui.full.dialogs.edit import Edits, edit_of
from crabhook.ui.full.text_input import LONGEST_TEXT
from tests.support.sitting import Sitting


def asked(tool: str, tool_input: Any, **fields: Any) -> Card:
    sitting = Sitting()
    sitting.ask(tool, tool_input, **fields)
    return sitting.card


def test_a_command_is_edited_as_itself_and_every_other_field_stays() -> None:
    edit = edit_of(asked("Bash", {"command": "ls", "timeout": 5, "unknown": [1]}))
    assert (edit.subject, edit.old, edit.file_name) == ("command", "ls", "command.sh")
    edit.editor.replace("ls -l")
    decision = edit.read(edit.editor.text)
    assert decision.updated_input == {"command": "ls -l", "timeout": 5, "unknown": [1]}
    assert edit.tell(decision) == "ls -l"


def test_any_other_input_is_edited_as_json() -> None:
    edit = edit_of(asked("Edit", {"file_path": "/a", "n": 1}))
    assert edit.file_name == "input.json"
    edit.editor.replace(edit.old.replace('"/a"', '"/b"'))
    assert edit.read(edit.editor.text).updated_input == {"file_path": "/b", "n": 1}
    edit.editor.replace("{")
    with pytest.raises(RewriteError, match="not"):
        edit.read(edit.editor.text)


def test_what_is_shown_of_json_is_what_is_sent_and_not_what_was_typed() -> None:
    edit = edit_of(asked("Edit", {"file_path": "/a"}))
    edit.editor.replace('{"file_path": "/shown", "file_path": "/sent"}')
    decision = edit.read(edit.editor.text)
    assert decision.updated_input == {"file_path": "/sent"}
    assert "/shown" not in edit.tell(decision)


@pytest.mark.parametrize(
    ("given", "typed", "sent"),
    [
        ("a text", "another", "another"),
        ({"stdout": "x", "code": 0}, '{"stdout": "y", "code": 0}', {"stdout": "y", "code": 0}),
        ([1], "null", None),
    ],
)
def test_an_output_is_edited_as_a_text_or_as_json(given: Any, typed: str, sent: Any) -> None:
    sitting = Sitting()
    sitting.desk.order(Order(OrderKind.HOLD, "PostToolUse"))
    sitting.ask(hook_event_name="PostToolUse", tool_response=given)
    edit = edit_of(sitting.card)
    edit.editor.replace(typed)
    decision = edit.read(edit.editor.text)
    assert (decision.output, decision.updated_input) == (sent, None)


def test_an_edit_that_changes_nothing_is_none() -> None:
    edit = edit_of(asked("Bash", {"command": "ls"}))
    with pytest.raises(RewriteError, match="changes nothing"):
        edit.read(edit.editor.text)


def test_what_is_too_long_to_be_edited_is_said() -> None:
    with pytest.raises(RewriteError, match="too long"):
        edit_of(asked("Bash", {"command": "x" * (LONGEST_TEXT + 1)}))


def test_an_event_about_no_tool_has_no_input_to_edit() -> None:
    sitting = Sitting()
    sitting.happen("Stop")
    with pytest.raises(RewriteError, match="no tool"):
        asked_tool(sitting.card)


def test_an_edit_is_kept_until_it_is_forgotten() -> None:
    edits, card = Edits(Sitting().screen.desk), asked("Bash", {"command": "ls"})
    edits.of(card).editor.insert("x")
    assert edits.of(card).editor.text == "lsx"
    edits.clear()
    assert edits.of(card).editor.text == "ls"
