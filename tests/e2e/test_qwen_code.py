"""A real Qwen Code, hooks installed by `crabhook install qwen`, decided from a real desk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.plain_desk import PlainDesk
from tests.support.qwen import Qwen, shell
from tests.support.turns import Text

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeHooked


pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@pytest.mark.everyday
def test_one_command_is_allowed_and_the_next_denied_with_a_reason(
    qwen: MakeHooked[Qwen], desk: PlainDesk
) -> None:
    agent = qwen(desk.address, (shell("touch one"),), (shell("touch two"),), (Text("Understood."),))
    desk.say_when("run_shell_command", "allow", "deny one is enough")
    run = agent.headless("make two files")
    assert (run.exit_code, run.stdout.strip()) == (0, "Understood.")
    first, second = run.requests[-1].results()
    assert "Exit Code: 0" in first
    assert second == "one is enough"
    assert [path.name for path in agent.project.iterdir()] == ["one"]


def test_where_the_agent_asks_its_user_an_edited_command_is_what_runs(
    qwen: MakeHooked[Qwen], desk: PlainDesk
) -> None:
    agent = qwen(desk.address, (shell("touch made"),), (Text("It is made."),))
    terminal = agent.terminal("make a file")
    number = desk.card("run_shell_command")
    desk.wait_for("limit: Qwen Code shows its own dialog only when")
    desk.say(f"{number} edit touch other")
    terminal.wait_for("It is made.")
    assert [path.name for path in agent.project.iterdir()] == ["other"]


def test_a_server_that_cannot_be_reached_denies_where_it_was_installed_to(
    qwen: MakeHooked[Qwen], tmp_path: Path
) -> None:
    closed = ("--gate", "--fail-closed")
    agent = qwen(f"unix:{tmp_path}/nobody", (shell("touch made"),), options=closed)
    run = agent.headless("make a file")
    assert "crabhook cannot ask the operator" in run.requests[-1].results()[0]
    assert not (agent.project / "made").exists()
