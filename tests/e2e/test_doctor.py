"""`crabhook doctor --live` with the real agents: each heeds a denial, and the doctor says so."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import requirements
from tests.support.codex import Codex
from tests.support.plain_desk import CRABHOOK
from tests.support.requirements import pinned_version
from tests.support.terminal import Terminal
from tests.support.turns import Script

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

CHOSEN = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} 2. Trust all"
AGENTS = ("claude", "gemini", "codex", "copilot")


def examined(home: Path, agent: str, *words: str) -> dict[str, dict[str, Any]]:
    """The findings by their ids, the agent being the real one."""
    program = requirements.program(agent)
    assert program is not None
    if program.suffix == ".js":  # a file of npm's is started by node
        script = home / agent
        script.write_text(f'#!/bin/sh\nexec node "{program}" "$@"\n')
        script.chmod(0o755)
        program = script
    done = subprocess.run(
        [CRABHOOK, "doctor", agent, "--json", "--quick", "--program", str(program), *words],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=home,
        env={"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PATH": os.environ["PATH"]},
    )
    return {one["id"]: one for one in json.loads(done.stdout)["findings"]}


@pytest.mark.parametrize("agent", AGENTS)
def test_the_real_agent_heeds_a_denial_and_its_version_is_known(agent: str, tmp_path: Path) -> None:
    requirements.insist(agent)
    found = examined(tmp_path, agent, "--live")
    assert found["agent.version"]["status"] == "ok"
    assert found["agent.version"]["figures"] == {"version": pinned_version(agent)}
    assert found["live.denial"]["status"] == "ok", found["live.denial"]
    assert "did not make the call that a rule denied" in found["live.denial"]["what"]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_proof_touches_nothing_of_the_users_home(agent: str, tmp_path: Path) -> None:
    requirements.insist(agent)
    home = tmp_path / "home"
    home.mkdir()
    examined(home, agent, "--live")
    assert {one.name for one in home.iterdir()} <= {agent}


def test_hooks_that_codex_has_reviewed_are_known_to_be(tmp_path: Path) -> None:
    requirements.insist("codex")
    agent = Codex(tmp_path, Script())
    install = [CRABHOOK, "install", "codex", "--gate"]
    environment = {"HOME": str(agent.home), "PATH": os.environ["PATH"]}
    subprocess.run(install, check=True, capture_output=True, timeout=60, env=environment)
    assert examined(agent.home, "codex")["hook.permitted"]["status"] == "fault"
    terminal = Terminal(agent._command([]), {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"})
    try:
        terminal.wait_for("Hooks need review")
        terminal.press("Down", until=lambda seen: CHOSEN in seen)
        terminal.press("Enter", until="Ask Codex to do anything")
    finally:
        terminal.close()
    assert examined(agent.home, "codex")["hook.permitted"]["status"] == "ok"
    subprocess.run(
        [*install, "--wait", "60"], check=True, capture_output=True, timeout=60, env=environment
    )
    assert examined(agent.home, "codex")["hook.permitted"]["status"] == "warning"
