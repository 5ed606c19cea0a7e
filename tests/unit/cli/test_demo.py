"""`crabhook demo`, as it is run where there is no terminal."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from crabhook.demo.sessions import session
from crabhook.platforms import PLATFORMS
from tests.support.examples import share

pytestmark = pytest.mark.process

CRABHOOK = str(Path(sys.executable).with_name("crabhook"))


def played(*options: str) -> tuple[dict[str, str], str]:
    """Play the demo; return what the agent read by the name of the call, and all that was shown."""
    done = subprocess.run(
        [CRABHOOK, "demo", *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    read = re.findall(r"^agent reads for (\S+): (.*)$", done.stdout, re.MULTILINE)
    return dict(read), done.stdout


def test_without_a_terminal_the_demo_plays_both_sides_and_prints_what_the_agent_reads() -> None:
    read, shown = played()
    said = {tool: json.loads(answer)["hookSpecificOutput"] for tool, answer in read.items()}
    assert list(said) == ["Bash", "Edit", "AskUserQuestion", "ExitPlanMode"]
    assert said["Bash"]["permissionDecision"] == "allow"
    assert said["Edit"]["permissionDecision"] == "deny"
    assert said["AskUserQuestion"]["updatedInput"]["answers"] == {
        "Which library should the retry use?": "our own loop",
        "Which failures should be retried?": 'Connection lost, "429, 503"',
        "What should the log line say?": "upload of %s failed, try %d",
    }
    assert said["ExitPlanMode"]["updatedInput"]["plan"].startswith("# Retry failed uploads")
    assert shown.count("delivered") == 4


AGENTS = {
    "copilot": '"behavior":"allow"',
    "gemini": '"decision":"allow"',
    "codex": "only this once",
    "qwen": '"behavior":"allow"',
    "opencode": '"reply":"once"',
    "acp": '"optionId":"allow-once"',
}


@pytest.mark.parametrize("agent", share(list(AGENTS), 0))
def test_each_agents_demo_shows_its_own_events_limits_and_answers(agent: str) -> None:
    read, shown = played("--agent", agent)
    assert AGENTS[agent] in next(iter(read.values()))
    assert shown.count("delivered") == len(session(agent).typed())
    rows = [session(agent).event(row.sends) for row in session(agent).inputs]
    assert all(event.name in shown for event in rows)
    limits = [limit for event in rows for limit in PLATFORMS[agent].limits(event)]
    assert limits
    assert all(f"limit: {limit}" in shown for limit in limits)
