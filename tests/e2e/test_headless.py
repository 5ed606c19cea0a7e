"""A real Claude Code without a screen, under a server without a person: rules alone decide."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.plain_desk import CRABHOOK, hooks
from tests.support.port import short_folder
from tests.support.service import Service
from tests.support.turns import Text, ToolUse, bash

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ci.md"
RULES = '[[rule]]\nverdict = "allow"\nmatch = "Bash(touch allowed*)"\n'
NOBODY = "no person is at the desk: crabhook serve --headless denies what no rule allows"


def install(agent: Claude, address: str, *, gate: bool) -> None:
    """Install our hooks into the agent's settings, as a recipe for a pipeline would."""
    subprocess.run(
        hooks(address, gate=gate),
        check=True,
        capture_output=True,
        timeout=60,
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


def run_job(job: str, folder: Path, **environment: str) -> str:
    """Run a job's lines; return what they print. Nothing that they start outlives the test."""
    process = subprocess.Popen(
        ["sh", "-c", job],
        cwd=folder,
        env={"PROMPT": "do the work", **environment},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=90)
        assert process.returncode == 0, said
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)
    return said


def test_a_pipeline_goes_as_the_page_on_continuous_integration_says(claude: MakeClaude) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (rules,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (job,) = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    install_first, _, job = job.partition("\n")
    assert install_first == "pipx install '/path/to/crabhook[serve]'"  # which `make packages` tries
    calls = (bash("npm test"), bash("git push origin"), bash("touch unlisted"))
    agent = claude(*((call,) for call in calls), (Text("That is all."),))
    (agent.project / "ci").mkdir()
    (agent.project / "ci" / "rules.toml").write_text(rules, encoding="utf-8")
    with short_folder() as folder:
        agent.as_program(folder / "claude", "do the work")
        path = f"{folder}:{Path(CRABHOOK).parent}:{os.environ['PATH']}"
        said = run_job(job, agent.project, HOME=str(agent.home), PATH=path, TMPDIR=str(folder))
    assert said.strip().splitlines()[-1] == "That is all."
    told = agent.requests()[-1].tool_results()
    assert [any(why in one for one in told) for why in ("a pipeline pushes nothing", NOBODY)] == [
        True,
        True,
    ]
    assert not (agent.project / "unlisted").exists()
    log = (agent.project / "crabhook.log").read_text(encoding="utf-8")
    decided = [line for line in map(json.loads, log.splitlines()) if line["what"] == "decided"]
    assert [(one["subject"], one["verdict"]) for one in decided] == [
        ("npm test", "allow"),
        ("git push origin", "deny"),
        ("touch unlisted", "deny"),
    ]


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
