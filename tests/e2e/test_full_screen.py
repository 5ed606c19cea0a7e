"""Two terminals, as a person has them: Claude Code in one, the operator's full screen in the other."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_claude_code import QUESTIONS, install
from tests.support.plain_desk import CRABHOOK
from tests.support.terminal import Terminal
from tests.support.turns import Text, ToolUse, bash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(90)]


class Screen(Terminal):
    """`crabhook serve` on a full screen of its own."""

    def __init__(self, columns: int, rows: int) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="crabhook-screen-", dir="/tmp"))
        self.address = f"unix:{self.home}/s"
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.home)}
        super().__init__(
            [CRABHOOK, "serve", "--listen", self.address],
            environment,
            columns=columns,
            rows=rows,
        )
        self.wait_for("0 waiting")

    def close(self) -> None:
        super().close()
        shutil.rmtree(self.home, ignore_errors=True)


@pytest.fixture(params=[(80, 24), (200, 60)], ids=["80x24", "200x60"])
def screen(request: pytest.FixtureRequest) -> Iterator[Screen]:
    screen = Screen(*request.param)
    try:
        yield screen
    finally:
        screen.close()


def test_a_command_is_allowed_with_one_key(claude: MakeClaude, screen: Screen) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("make a file")
    screen.wait_for("touch made")
    screen.press("a", until="TAKE BACK")
    screen.wait_for("delivered")
    terminal.wait_for("It is made.")
    assert (agent.project / "made").exists()


def test_an_allow_taken_back_was_never_given(claude: MakeClaude, screen: Screen) -> None:
    agent = claude((bash("touch made"),), (Text("Understood."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("make a file")
    screen.wait_for("touch made")
    screen.press("a", until="TAKE BACK")
    screen.key("u")
    screen.wait_for(lambda shown: "TAKE BACK" not in shown)
    screen.press("d", until="deny #1")
    screen.type("write it with the Write tool")
    screen.wait_for("write it with the Write tool")
    screen.press("Enter", until=lambda shown: "deny #1" not in shown)
    terminal.wait_for("Understood.")
    assert not (agent.project / "made").exists()
    told = [result for request in agent.requests() for result in request.tool_results()]
    assert any("write it with the Write tool" in result for result in told)


def test_questions_are_answered_on_the_screen(claude: MakeClaude, screen: Screen) -> None:
    agent = claude((ToolUse("AskUserQuestion", QUESTIONS),), (Text("Thank you."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("ask me")
    screen.wait_for("Red, green")
    screen.press("1", until="[x] 1")
    screen.key("2")
    screen.wait_for("[x] 2")
    screen.key("Enter")
    screen.wait_for("What is it called?")
    screen.press("o", until="in your own words")
    screen.type("Scuttle, the 2nd")
    screen.wait_for("in your own words: Scuttle, the 2nd")
    screen.press("Enter", until="these answers will be sent")
    screen.wait_for("Scuttle, the 2nd")
    screen.press("Enter", until=lambda shown: "TAKE BACK" in shown or "ANSWERED" in shown)
    terminal.wait_for("Thank you.")
    told = "\n".join(agent.requests()[-1].tool_results()).replace("\\", "")
    assert '"Which colours shall it have?"=""Red, green", Blue"' in told
    assert '"What is it called?"="Scuttle, the 2nd"' in told


def test_a_rule_from_a_card_spares_the_next_one(claude: MakeClaude, screen: Screen) -> None:
    agent = claude((bash("touch made"),), (bash("touch made"),), (Text("It is made twice."),))
    install(agent, screen.address, gate=True)
    terminal = agent.terminal("make a file, twice")
    screen.wait_for("touch made")
    screen.press("A", until="exactly `touch made`, in this project")
    screen.press("2", until=lambda shown: "TAKE BACK" in shown or "from now on" in shown)
    terminal.wait_for("It is made twice.")
    assert (agent.project / "made").exists()
    written = (screen.home / ".config" / "crabhook" / "rules.toml").read_text(encoding="utf-8")
    assert written.count("[[rule]]") == 1
    assert 'match = "Bash(touch made)"' in written
    assert "#2" not in screen.screen()  # the second call had no card
