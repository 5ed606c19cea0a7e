"""A call as a person types it."""

from pathlib import Path

import pytest

from crabhook.policy.calls.read import read_call
from crabhook.rulebook.context import context_here
from crabhook.rulebook.typed_call import event_of
from tests.support.rows import every_row


@pytest.mark.parametrize(
    ("tool", "key"),
    [
        ("Bash", "command"),
        ("Read", "file_path"),
        ("Write", "file_path"),
        ("NotebookEdit", "notebook_path"),
        ("NotebookRead", "notebook_path"),
        ("replace", "file_path"),
        ("Grep", "path"),
        ("WebFetch", "url"),
        ("Agent", "subagent_type"),
        ("Skill", "skill"),
        ("apply_patch", "command"),
    ],
)
def test_a_text_becomes_the_input_that_rules_look_at(tool: str, key: str, tmp_path: Path) -> None:
    event = event_of(tool, "x", tmp_path)
    assert event.tool is not None
    assert event.tool.input == {key: "x"}
    assert event.cwd == str(tmp_path)


@every_row(
    "tool", ["Read", "Edit", "NotebookEdit", "NotebookRead", "Glob", "LS", "glob", "read_file"]
)
def test_a_typed_path_is_the_tools_own(tool: str, tmp_path: Path) -> None:
    call = read_call(event_of(tool, "src/a.py", tmp_path), context_here(tmp_path))
    assert call is not None
    assert call.troubles == ()
