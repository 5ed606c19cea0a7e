"""`crabhook demo`, as it is run where there is no terminal."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

CRABHOOK = str(Path(sys.executable).with_name("crabhook"))


def test_without_a_terminal_the_demo_plays_both_sides_and_prints_what_the_agent_reads() -> None:
    done = subprocess.run(
        [CRABHOOK, "demo"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    read = re.findall(r"^agent reads for (\w+): (.*)$", done.stdout, re.MULTILINE)
    said = {tool: json.loads(answer)["hookSpecificOutput"] for tool, answer in read}
    assert list(said) == ["Bash", "Edit", "AskUserQuestion", "ExitPlanMode"]
    assert said["Bash"]["permissionDecision"] == "allow"
    assert said["Edit"]["permissionDecision"] == "deny"
    assert said["AskUserQuestion"]["updatedInput"]["answers"] == {
        "Which library should the retry use?": "our own loop",
        "Which failures should be retried?": 'Connection lost, "429, 503"',
        "What should the log line say?": "upload of %s failed, try %d",
    }
    assert said["ExitPlanMode"]["updatedInput"]["plan"].startswith("# Retry failed uploads")
    assert done.stdout.count("delivered") == 4
    assert done.stderr == ""
