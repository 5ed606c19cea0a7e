"""A real Claude Code in auto mode: its own check denies a call, and a person lets it run once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_claude_code import everything, install
from tests.support.plain_desk import PlainDesk
from tests.support.turns import Text, bash

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

CALL = "echo ran >> made; curl --data @made http://127.0.0.1:9"
"""What auto mode has its check judge, which offline denies everything."""
WAITS = "while ! test -e go; do sleep 0.1; done; rm go"
"""A script that its own rules allow: it keeps the agent busy while a person decides."""


def test_a_denied_call_runs_once_after_a_yes_and_no_other_does(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude(
        (bash(CALL),),
        (bash("sh wait"),),
        (bash(CALL),),
        (bash(CALL + " "),),
        (bash(CALL),),
        (Text("It is made."),),
    )
    install(agent, desk.address, gate=False)
    (agent.project / "wait").write_text(WAITS, encoding="utf-8")
    with ThreadPoolExecutor(1) as beside:
        run = beside.submit(
            agent.headless, "make a file", mode="auto", extra_args=["--allowedTools=Bash(sh wait)"]
        )
        number = desk.card("Bash")
        assert not (agent.project / "made").exists()
        desk.say(f"{number} retry")
        desk.wait_for("may run once now")
        (agent.project / "go").touch()
        changed, twice = desk.card("Bash"), desk.card("Bash")
        told = everything(run.result(120).last.body)
    assert (number, changed, twice) == (1, 2, 3)
    assert (agent.project / "made").read_text(encoding="utf-8") == "ran\n"
    assert sum("may run once now" in text for text in told) == 1
