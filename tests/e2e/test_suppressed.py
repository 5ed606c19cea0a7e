"""What the real Claude Code does with suppressOutput: nothing, today; docs/reference/protocols.md says so."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.claude import Claude, command_hook, hook_settings
from tests.support.turns import Text, bash

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

STREAM = ["--output-format=stream-json", "--verbose", "--include-hook-events"]
PRINTS = "import sys; print(sys.argv[1])"


def saying(make: MakeClaude, *, suppress: bool) -> Claude:
    """A Claude Code whose hook allows one call, with words to its user and to the model."""
    specific = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "additionalContext": "for the model",
    }
    said: dict[str, Any] = {"systemMessage": "for its user", "hookSpecificOutput": specific}
    if suppress:
        said["suppressOutput"] = True
    hook = command_hook(shlex.join([sys.executable, "-c", PRINTS, json.dumps(said)]))
    return make(
        (bash("echo done"),), (Text("Over."),), settings=hook_settings({"PreToolUse": [hook]})
    )


def heard(agent: Claude) -> tuple[list[str], list[str]]:
    """What a headless run shows of the hook, and what its model was told."""
    run = agent.headless("Begin.", extra_args=STREAM)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    shown = [
        f"{line['type']}/{line.get('subtype', '')}"
        for line in lines
        if "for its user" in json.dumps(line) or "hook" in str(line.get("subtype", ""))
    ]
    told = [text for text in run.last.texts() if "for the model" in text]
    return shown, told


def test_claude_code_shows_and_tells_the_same_whether_a_hook_suppresses_its_output(
    claude: MakeClaude,
) -> None:
    plain, quiet = (heard(saying(claude, suppress=one)) for one in (False, True))
    assert plain == quiet
    assert plain[1]


@pytest.mark.parametrize("suppress", [False, True])
def test_its_user_reads_the_message_of_a_hook_that_suppresses_its_output(
    claude: MakeClaude, suppress: bool
) -> None:
    screen = saying(claude, suppress=suppress).terminal("Begin.")
    screen.wait_for("for its user")
