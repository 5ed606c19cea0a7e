"""A call as a person types it."""

from pathlib import Path

import pytest

from crabhook.rulebook.typed_call import event_of


@pytest.mark.parametrize(
    ("tool", "key"),
    [
        ("Bash", "command"),
        ("Read", "file_path"),
        ("Write", "file_path"),
        ("NotebookEdit", "notebook_path"),
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
