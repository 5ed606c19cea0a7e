"""A real Claude Code without a screen, under a server without a person: rules alone decide."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.plain_desk import hooks
from tests.support.service import Service
from tests.support.turns import Text, ToolUse, bash

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]

RULES = '[[rule]]\nverdict = "allow"\nmatch = "Bash(touch allowed*)"\n'
NOBODY = "no person is at the desk; crabhook serve --headless denies what no rule allows"


def install(agent: Claude, address: str, *, gate: bool) -> None:
    """Install our hooks into the agent's settings, as a recipe for a pipeline would."""
    subprocess.run(
        hooks(address, gate=gate),
        check=True,
        capture_output=True,
        timeout=30,
        env={"PATH": os.environ["PATH"], "HOME": str(agent.home)},
    )


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
def test_what_a_rule_allows_runs_and_the_rest_is_denied_with_the_reason(
    claude: MakeClaude, gate: bool
) -> None:
    agent = claude((bash("touch allowed"),), (bash("touch unlisted"),), (Text("Understood."),))
    with Service("--headless", "--otherwise", "deny", "--log-format", "json", rules=RULES) as desk:
        install(agent, desk.address, gate=gate)
        run = agent.headless("make two files")
        assert (run.exit_code, run.stdout.strip()) == (0, "Understood.")
        assert (agent.project / "allowed").exists()
        assert not (agent.project / "unlisted").exists()
        assert any(NOBODY in result for result in run.last.tool_results())
        assert desk.logged("decided")["subject"] == "touch allowed"
        line = desk.logged("decided")
        assert (line["subject"], line["by"]) == ("touch unlisted", "headless")
        assert desk.end() == 0


def test_a_question_to_nobody_is_denied_and_the_run_goes_on(claude: MakeClaude) -> None:
    question = {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": "Red", "description": "a"}, {"label": "Blue", "description": "b"}],
    }
    agent = claude((ToolUse("AskUserQuestion", {"questions": [question]}),), (Text("I go on."),))
    with Service("--headless", "--otherwise", "deny") as desk:
        install(agent, desk.address, gate=True)
        run = agent.headless("ask me")
        assert (run.exit_code, run.stdout.strip()) == (0, "I go on.")
        assert desk.end() == 0
