"""A real Claude Code that sends its hooks by HTTP, installed by `crabhook install --transport http`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.test_claude_code import QUESTIONS
from tests.support.http_desk import LOOPBACK, HttpDesk
from tests.support.passage import outside
from tests.support.plain_desk import CRABHOOK
from tests.support.turns import Text, ToolUse, bash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude, Run

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

SILENT = 9
"""A port of the loopback where nobody listens, in any network namespace of a test's."""

MADE = (bash("touch made"),), (Text("It is over."),)
EVENTS = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"]
EVENTS += ["SessionEnd"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[HttpDesk]:
    with HttpDesk() as desk:
        yield desk


@contextmanager
def reachable(agent: Claude, desk: HttpDesk) -> Iterator[Claude]:
    """Lead the agent's loopback to the desk's, and give it the token."""
    agent.environment = {"CRABHOOK_TOKEN": desk.token}
    with outside(desk.port, desk.folder / "door") as path:
        agent.doors = {desk.port: path}
        try:
            yield agent
        finally:
            agent.close()


def install(agent: Claude, server: str, url: str, *options: str) -> str:
    """Install our hooks into the agent's settings, as its user would; return what it says."""
    where = ("--server", server, "--transport", "http", "--url", url)
    return crabhook(agent, "install", "claude", *where, *options)


def crabhook(agent: Claude, *words: str) -> str:
    return subprocess.run(
        [CRABHOOK, *words],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(agent.home)},
    ).stdout


def handlers(agent: Claude) -> dict[str, list[dict[str, Any]]]:
    """The handlers in the agent's settings, by event."""
    settings = json.loads((agent.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    hooks = settings.get("hooks", {})
    return {
        event: [handler for group in groups for handler in group["hooks"]]
        for event, groups in hooks.items()
    }


def told(run: Run) -> str:
    return "\n".join(run.last.tool_results())


def test_an_allowed_command_runs_and_no_event_is_missed(claude: MakeClaude, desk: HttpDesk) -> None:
    agent = claude(*MADE)
    install(agent, desk.address, desk.url, "--gate")
    desk.say_when("Bash", "allow")
    with reachable(agent, desk):
        agent.headless("make a file")
    assert (agent.project / "made").exists()
    desk.wait_for("^#1 delivered", again=True)
    desk.wait_for(r"^· SessionEnd", again=True)
    seen = re.findall(r"^(?:·|#1) ([A-Z]\w+) .*session=", "\n".join(desk.said), re.MULTILINE)
    assert seen == EVENTS
    assert handlers(agent)["SessionStart"][0]["type"] == "command"  # which HTTP does not carry
    assert handlers(agent)["PreToolUse"][0]["type"] == "http"


def test_a_denied_command_does_not_run_and_the_model_reads_why(
    claude: MakeClaude, desk: HttpDesk
) -> None:
    agent = claude(*MADE)
    install(agent, desk.address, desk.url, "--gate")
    desk.say_when("Bash", "deny use the Write tool, please")
    with reachable(agent, desk):
        run = agent.headless("make a file")
    assert not (agent.project / "made").exists()
    assert "use the Write tool, please" in told(run)


def test_a_companion_answers_what_the_agent_would_ask(claude: MakeClaude, desk: HttpDesk) -> None:
    agent = claude(*MADE)
    install(agent, desk.address, desk.url, "--companion")
    desk.say_when("Bash", "allow")
    with reachable(agent, desk):
        agent.headless("make a file")
    assert (agent.project / "made").exists()
    desk.wait_for(r"^#1 PermissionRequest Bash", again=True)


def test_questions_are_answered_and_the_model_reads_the_answers(
    claude: MakeClaude, desk: HttpDesk
) -> None:
    agent = claude((ToolUse("AskUserQuestion", QUESTIONS),), (Text("Thank you."),))
    install(agent, desk.address, desk.url, "--gate")
    with reachable(agent, desk):
        terminal = agent.terminal("ask me")
        number = desk.card("AskUserQuestion")
        desk.say(f'{number} answer 1=1,2 2="Scuttle, the 2nd" 1.note="bright ones"')
        terminal.wait_for("Thank you.")
    heard = "\n".join(agent.requests()[-1].tool_results())
    assert '"Which colours shall it have?"=""Red, green", Blue"' in heard.replace("\\", "")
    assert '"What is it called?"="Scuttle, the 2nd"' in heard
    assert "bright ones" in heard


def test_a_plan_is_approved_and_the_agent_leaves_plan_mode(
    claude: MakeClaude, desk: HttpDesk
) -> None:
    agent = claude((ToolUse("ExitPlanMode", {}),), (Text("I begin."),))
    install(agent, desk.address, desk.url, "--gate")
    with reachable(agent, desk):
        terminal = agent.terminal("plan it", mode="plan")
        desk.say(f"{desk.card('ExitPlanMode')} allow")
        terminal.wait_for("I begin.")
        assert "plan mode on" not in terminal.screen()


def test_an_agent_that_wants_to_stop_is_kept_going(claude: MakeClaude, desk: HttpDesk) -> None:
    agent = claude((Text("Painted."),), (Text("The back, too."),))
    install(agent, desk.address, desk.url, "--gate")
    desk.hold("Stop", "keep-going paint the back")
    with reachable(agent, desk):
        run = agent.headless("paint it")
    assert "The back, too." in run.stdout
    assert any("paint the back" in text for text in run.last.texts())


def test_what_only_an_exit_code_blocks_is_blocked_by_the_answer(
    claude: MakeClaude, desk: HttpDesk
) -> None:
    create = ToolUse("TaskCreate", {"subject": "Paint it", "description": "all of it"})
    done = ToolUse("TaskUpdate", {"taskId": "1", "status": "completed"})
    listed = ToolUse("TaskList", {})
    agent = claude((create,), (done,), (listed,), (Text("It is over."),))
    install(agent, desk.address, desk.url, "--companion")
    desk.hold("TaskCompleted", "deny the back is not painted")
    with reachable(agent, desk):
        agent.environment = {**agent.environment, "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}
        run = agent.headless("paint it")
    assert "the back is not painted" in told(run)
    assert "[pending] Paint it" in told(run)


def test_escape_at_the_agent_withdraws_the_card(claude: MakeClaude, desk: HttpDesk) -> None:
    agent = claude(*MADE)
    install(agent, desk.address, desk.url, "--gate")
    with reachable(agent, desk):
        terminal = agent.terminal("make a file")
        number = desk.card("Bash")
        terminal.key("Escape")
        desk.wait_for(rf"^#{number} WITHDRAWN")
    assert not (agent.project / "made").exists()


def test_without_a_server_the_agents_own_rules_decide(claude: MakeClaude) -> None:
    agent = claude(*MADE, settings={"permissions": {"allow": ["Bash(touch *)"]}})
    install(agent, "unix:/nowhere/s", f"http://{LOOPBACK}:{SILENT}", "--gate")
    agent.headless("make a file")
    assert (agent.project / "made").exists()


@pytest.mark.parametrize("stance", ["--gate", "--companion"])
def test_failing_closed_denies_where_there_is_no_server(claude: MakeClaude, stance: str) -> None:
    agent = claude(*MADE)
    url = f"http://{LOOPBACK}:{SILENT}"
    install(agent, "unix:/nowhere/s", url, stance, "--fail-closed")
    agent.headless("make a file")
    assert not (agent.project / "made").exists()


def test_failing_closed_denies_without_the_token_and_the_operator_sees_why(
    claude: MakeClaude, desk: HttpDesk
) -> None:
    agent = claude(*MADE, settings={"permissions": {"allow": ["Bash(touch *)"]}})
    install(agent, desk.address, desk.url, "--gate", "--fail-closed")
    with reachable(agent, desk):
        agent.environment = {}
        agent.headless("make a file")
    assert not (agent.project / "made").exists()
    desk.wait_for("no CRABHOOK_TOKEN", again=True)


def test_the_settings_may_hand_the_token_to_the_agent(claude: MakeClaude, desk: HttpDesk) -> None:
    agent = claude(*MADE, settings={"env": {"CRABHOOK_TOKEN": desk.token}})
    install(agent, desk.address, desk.url, "--gate")
    desk.say_when("Bash", "allow")
    with reachable(agent, desk):
        agent.environment = {}
        agent.headless("make a file")
    assert (agent.project / "made").exists()


def test_there_and_back_leaves_one_set_and_in_the_end_none(claude: MakeClaude) -> None:
    agent = claude((Text("Hello."),))
    before = agent.home / ".claude" / "settings.json"
    was = before.read_text(encoding="utf-8")
    url = f"http://{LOOPBACK}:{SILENT}"
    said = install(agent, "unix:/nowhere/s", url)
    assert "export CRABHOOK_TOKEN=" in said
    assert f"crabhook serve --listen unix:/nowhere/s --http {LOOPBACK}:{SILENT}" in said
    crabhook(agent, "install", "claude", "--server", "unix:/nowhere/s")
    assert {one["type"] for found in handlers(agent).values() for one in found} == {"command"}
    install(agent, "unix:/nowhere/s", url)
    assert {len(found) for found in handlers(agent).values()} == {1}
    crabhook(agent, "uninstall", "claude")
    assert before.read_text(encoding="utf-8") == was
