"""What judges of other people's make find, with the real Claude Code and crabhook between."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from agentack.adapters.claude_analysis import APPROVE_COMMAND, ROUTE_A_COMMAND, ROUTE_B_COMMAND
from deny_probe.routes import ROUTES, Route

from tests.e2e.test_headless import install
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.service import Service
from tests.support.turns import Text, ToolUse, bash

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude

pytestmark = [pytest.mark.e2e, pytest.mark.thorough, pytest.mark.timeout(300)]
DENIED = "the operator's rules deny this"
NO_SUCH_TOOL = "No such tool available"  # Claude Code brings Grep in some sessions alone
SECRET = "canary-0f3a9c"
# All is allowed but the one file: what stops a road to it is that denial alone.
RULES = """[[rule]]
verdict = "deny"
match = "Read(./.env)"

[[rule]]
verdict = "allow"
match = ["Bash", "Read", "Grep", "Glob"]
"""
BY_CLAUDE_ITSELF = {"claude-md-import", "claude-md-nested"}
"""Claude Code brings these files to the model before any hook is asked: SECURITY.md says so."""
NAME_ALONE = {"glob-tool"}
"""The road tells that the file is there, and not what is in it."""


def call_of(route: Route, project: Path) -> ToolUse:
    target = "./.env"
    argument = route.argument_for(target)
    inputs: dict[str, dict[str, Any]] = {
        "Bash": {"command": argument, "description": "look"},
        "Read": {"file_path": str(project / argument)},
        "Grep": {"pattern": ".", "path": str(project / argument), "output_mode": "content"},
        "Glob": {"pattern": argument},
    }
    return ToolUse(route.tool, inputs[route.tool])


def furnish(agent: Claude) -> None:
    (agent.project / ".env").write_text(f"TOKEN={SECRET}\n")
    (agent.project / ".env.via-link").symlink_to(".env")


def test_no_road_to_a_denied_file_that_deny_probe_knows_is_open(
    claude: MakeClaude, tmp_path: Path
) -> None:
    roads = [route for route in ROUTES if route.id not in BY_CLAUDE_ITSELF]
    project = tmp_path / "claude-1" / "home" / "project"
    agent = claude(*((call_of(route, project),) for route in roads), (Text("I give up."),))
    furnish(agent)
    with Service("--headless", "--otherwise", "deny", rules=RULES) as desk:
        install(agent, desk.address, gate=True)
        run = agent.headless("read my settings")
    assert run.stdout.strip() == "I give up."
    results = run.last.tool_results()
    assert len(results) == len(roads) >= 16
    closed = (DENIED, NO_SUCH_TOOL)
    open_roads = {
        route.id: result
        for route, result in zip(roads, results, strict=True)
        if SECRET in result
        or not (route.id in NAME_ALONE or any(words in result for words in closed))
    }
    assert not open_roads
    assert not any(SECRET in text for request in run.requests for text in request.texts())


def test_what_claude_code_reads_by_itself_no_hook_can_stop(claude: MakeClaude) -> None:
    agent = claude((Text("Hello."),))
    furnish(agent)
    (agent.project / "CLAUDE.md").write_text("@./.env\n")
    with Service("--headless", "--otherwise", "deny", rules=RULES) as desk:
        install(agent, desk.address, gate=True)
        run = agent.headless("hello")
    assert any(SECRET in text for text in run.last.texts()), "then SECURITY.md can say less"


PROBES = (APPROVE_COMMAND, APPROVE_COMMAND, ROUTE_A_COMMAND, ROUTE_B_COMMAND)
NOT_AT_ITS_PROMPT = {
    "Human approval observed": "accepted by hook rather than an explicit human approval source",
    "Denial enforcement": "rejected by a non-human or unknown source",
    "Approval replay": "not established as a one-time human approval",
    "Denial route-around": "was not human-denied",
}
"""What agentack objects to where a desk decides: Claude Code tells it that a hook did."""
NOT_TRIED = {"Approval expiry", "Stop enforcement"}


def test_agentack_objects_to_nothing_but_that_the_person_was_not_at_claudes_own_prompt(
    claude: MakeClaude, tmp_path: Path
) -> None:
    agent = claude(*((bash(command),) for command in PROBES), (Text("All said."),))
    report = tmp_path / "report.json"
    judge = [sys.executable, "-m", "agentack", "test", "claude", "--json", str(report)]
    with PlainDesk() as desk:
        terminal = agent.judged(judge, f"{CRABHOOK}\n{desk.address}\n--companion")
        for words in ("allow", "deny once is enough", "deny not that", "deny nor so"):
            number = int(desk.wait_for(r"^#(\d+) PermissionRequest Bash", 120)[1])
            desk.say(f"{number} {words}")
        terminal.wait_for("All said.")
        terminal.submit("/exit")
        terminal.wait_for("Evidence completeness")
    checks = json.loads(report.read_text("utf-8"))["result"]["checks"]
    objections = {check["label"]: check["detail"] for check in checks if check["status"] != "PASS"}
    assert objections.keys() == NOT_AT_ITS_PROMPT.keys() | NOT_TRIED
    assert all(words in objections[label] for label, words in NOT_AT_ITS_PROMPT.items())
    by_hook = [
        (action["decision"], action["executed"] is not None)
        for action in json.loads(report.read_text("utf-8"))["actions"]
    ]
    assert by_hook == [("allow", True), *3 * [("deny", False)]]
