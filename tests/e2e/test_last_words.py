"""What the real agent said just before it asks stands in its transcript when its hook runs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.agent import REPOSITORY
from tests.support.claude import command_hook, hook_settings
from tests.support.turns import Script, Text, ToolUse, bash

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeClaude

pytestmark = pytest.mark.e2e

READER = """
import sys
sys.path[:0] = [{source!r}]
from crabhook.platforms import PLATFORMS
from crabhook.transcript import transcript_of
from crabhook.transcript import last_words
event = PLATFORMS["claude"].read(sys.stdin.buffer.read())
with open({found!r}, "a") as file:
    print(event.agent_type or "main", repr(last_words(transcript_of(event))), file=file)
"""


def reader(found: Path) -> str:
    """Return the hook that notes what it reads of whoever asks."""
    code = READER.format(source=str(REPOSITORY / "src"), found=str(found))
    return shlex.join([sys.executable, "-c", code])


def test_the_agents_last_words_are_read_while_its_hook_runs(
    claude: MakeClaude, tmp_path: Path
) -> None:
    found = tmp_path / "found"
    agent = claude(
        (Text("I look around first."), bash("ls")),
        (bash("pwd"),),
        settings=hook_settings({"PreToolUse": [command_hook(reader(found))]}),
    )
    agent.headless("Look around.", extra_args=["--allowedTools=Bash"])
    assert found.read_text().splitlines() == ["main 'I look around first.'"] * 2


def test_a_subagents_last_words_are_its_own(claude: MakeClaude, tmp_path: Path) -> None:
    found = tmp_path / "found"
    task = {"description": "look", "prompt": "SUB look", "subagent_type": "general-purpose"}
    agent = claude(
        script=Script(
            turns=((Text("I send somebody."), ToolUse("Agent", task)),),
            subagents={"SUB": ((Text("I am the one who looks."), bash("ls")),)},
        ),
        settings=hook_settings({"PreToolUse": [command_hook(reader(found))]}),
    )
    agent.headless("Look around.", extra_args=["--allowedTools=Bash,Agent"])
    assert found.read_text().splitlines() == [
        "main 'I send somebody.'",
        "general-purpose 'I am the one who looks.'",
    ]
