"""What a decision will not bring about is said where one would expect it to."""

import pytest

from crabhook.model.event import Event, ToolCall
from crabhook.platforms.codex.write import limits

BASH, QUESTION = ToolCall("Bash", {"command": "x"}), ToolCall("request_user_input", {})


@pytest.mark.parametrize(
    ("name", "tool", "mode", "words"),
    [
        ("PreToolUse", BASH, "default", ["approves nothing by itself", "told this allow"]),
        ("PreToolUse", BASH, "bypassPermissions", ["approves nothing here", "asks nobody"]),
        ("PreToolUse", BASH, "dontAsk", ["asks nobody"]),
        ("PreToolUse", QUESTION, "default", ["refusal that states them", "Plan mode"]),
        ("PermissionRequest", BASH, "default", ["own dialog only when", "cannot be changed"]),
        ("PostToolUse", BASH, "default", []),
        ("Stop", None, "default", []),
    ],
)
def test_what_the_operator_is_told(
    name: str, tool: ToolCall | None, mode: str, words: list[str]
) -> None:
    said = limits(Event("codex", name, tool=tool, permission_mode=mode))
    assert all(one.endswith(".") for one in said)
    assert bool(said) == bool(words)
    assert all(word in " ".join(said) for word in words)
