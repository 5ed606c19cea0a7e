from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.event import ToolCall
from crabhook.ui.commands.decide import RewriteError, difference, edited_field, rewritten

BASH = ToolCall("Bash", {"command": "a\nb", "timeout": 5, "new": None})
PLAN = ToolCall("ExitPlanMode", {"plan": "# A", "planFilePath": "/p"})
WRITE = ToolCall("Write", {"file_path": "/a", "content": "x"})


@pytest.mark.parametrize(
    ("tool", "field"),
    [
        (BASH, "command"),
        (PLAN, "plan"),
        (WRITE, None),
        (ToolCall("Bash", {"command": 5}), None),
        (ToolCall("Bash", None), None),
        (ToolCall("Write", {"plan": "x"}), None),
        (ToolCall("ExitPlanMode", {}), None),
    ],
)
def test_a_command_and_a_plan_are_edited_as_themselves(tool: ToolCall, field: Any) -> None:
    assert edited_field(tool) == field


def test_every_other_field_stays_as_it_was() -> None:
    assert rewritten(BASH, "{not json}") == {"command": "{not json}", "timeout": 5, "new": None}
    assert rewritten(PLAN, "# B") == {"plan": "# B", "planFilePath": "/p"}


def test_any_other_input_is_replaced_by_an_object() -> None:
    assert rewritten(WRITE, '{"file_path": "/b"}') == {"file_path": "/b"}


@pytest.mark.parametrize("text", ["", "x", "[1]", "7", '{"a": NaN}', "{" * 300, '{"a": 1} x'])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(RewriteError, match="the input is a JSON object"):
        rewritten(WRITE, text)


def test_a_change_that_changes_nothing_is_refused() -> None:
    for tool, text in ((BASH, "a\nb"), (PLAN, "# A"), (WRITE, '{"file_path":"/a","content":"x"}')):
        with pytest.raises(RewriteError, match="that changes nothing"):
            rewritten(tool, text)


def test_one_and_true_are_two_things() -> None:
    assert rewritten(ToolCall("x", {"a": True}), '{"a": 1}') == {"a": 1}


def test_the_difference_is_shown_as_a_unified_diff() -> None:
    assert difference(BASH, rewritten(BASH, "a\nc")) == [
        "  the command as it will be sent:",
        "    @@ -1,2 +1,2 @@",
        "     a",
        "    -b",
        "    +c",
    ]


def test_of_an_input_no_field_is_left_out_of_the_difference() -> None:
    shown = difference(WRITE, {"file_path": "/a"})
    assert shown[0] == "  the input as it will be sent:"
    assert '    -  "content": "x"' in shown


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_difference_is_safe_and_nothing_in_it_looks_like_ours(old: str, new: str) -> None:
    tool = ToolCall("Bash", {"command": old})
    heading, *lines = difference(tool, {"command": new})
    assert heading == "  the command as it will be sent:"
    assert all(line.isprintable() and line.startswith("    ") for line in lines)


def test_very_long_texts_are_shown_whole_side_by_side_and_bounded() -> None:
    old, new = "\n".join("a" * 5000), "\n".join("b" * 5000)
    shown = difference(ToolCall("Bash", {"command": old}), {"command": new})
    assert len(shown) <= 201
    assert "    -a" in shown
    assert "    +b" in shown
    assert any("left out" in line for line in shown)
