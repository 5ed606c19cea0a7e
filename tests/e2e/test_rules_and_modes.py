"""A real Claude Code in every permission mode, and under a rule of its own that asks."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_claude_code import OWN_PROMPT, install
from tests.support.isolation import isolated, with_etc
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.turns import Text, ToolUse, bash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

RULES = """\
[[rule]]
verdict = "deny"
match = "Bash(touch denied)"
note = "not this file"

[[rule]]
verdict = "ask-operator"
match = "Bash(touch asked *)"

[[rule]]
verdict = "allow"
match = "Bash(touch allowed)"
"""
MODES = [
    "default",
    "auto",
    "acceptEdits",
    "bypassPermissions",
    "dontAsk",
]
OWN_RULE = {"permissions": {"ask": ["Bash(touch *)"]}}


@pytest.fixture
def desk() -> Iterator[PlainDesk]:
    desk = PlainDesk()
    desk.write_rules(RULES)
    with desk:
        yield desk


def asked_of(desk: PlainDesk) -> list[str]:
    """The first line of every card that came up."""
    return [line for line in desk.said if line.startswith("#") and " session=" in line]


@pytest.mark.parametrize("mode", MODES)
def test_a_companions_rules_and_protected_places_hold_in_every_mode(
    claude: MakeClaude, desk: PlainDesk, mode: str
) -> None:
    agent = claude(
        (bash("touch denied"),),
        (bash("touch asked no"),),
        (bash("touch asked yes"),),
        (bash("touch allowed"),),
        (ToolUse("Write", {"file_path": ".git/hooks/post-checkout", "content": "x"}),),
        (Text("Done."),),
    )
    install(agent, desk.address, gate=False)
    desk.say_when("(?:Bash|Write)", "deny not now", "allow", "deny that is protected")
    run = agent.headless("make files", mode=mode)
    assert (run.exit_code, run.stdout.strip()) == (0, "Done.")
    made = sorted(path.name for path in agent.project.iterdir())
    assert made == ["allowed", "asked", "yes"]
    told = run.last.tool_results()
    for place, words in ((0, "not this file"), (1, "not now"), (4, "that is protected")):
        assert words in told[place]


@pytest.mark.parametrize(("mode", "cards"), [("bypassPermissions", 0), ("default", 1)])
def test_what_no_rule_speaks_of_is_a_card_only_where_the_agent_asks_about_it(
    claude: MakeClaude, desk: PlainDesk, mode: str, cards: int
) -> None:
    agent = claude((bash("touch free"),), (Text("Done."),))
    install(agent, desk.address, gate=False)
    desk.say_when("Bash", *["allow"] * cards)
    run = agent.headless("make a file", mode=mode)
    assert (run.exit_code, run.stdout.strip()) == (0, "Done.")
    assert (agent.project / "free").exists()
    assert [line.split()[1:3] for line in asked_of(desk)] == [["PermissionRequest", "Bash"]] * cards


@pytest.mark.parametrize("where", ["terminal", "headless"])
def test_a_gates_allow_is_what_happens_under_a_rule_of_the_agents_own_that_asks(
    claude: MakeClaude, desk: PlainDesk, where: str
) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),), settings=OWN_RULE)
    install(agent, desk.address, gate=True)
    desk.say_when("Bash", "allow")
    if where == "headless":
        run = agent.headless("make a file")
        assert (run.exit_code, run.stdout.strip()) == (0, "It is made.")
    else:
        agent.terminal("make a file").wait_for("It is made.")
    assert (agent.project / "made").exists()
    assert len(asked_of(desk)) == 1


def test_a_gates_hand_back_and_denial_hold_there_without_a_second_card(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    turns = (bash("touch refused"),), (bash("touch made"),), (Text("It is made."),)
    agent = claude(*turns, settings=OWN_RULE)
    install(agent, desk.address, gate=True)
    desk.say_when("Bash", "deny no", "ask")
    terminal = agent.terminal("make two files")
    terminal.wait_for(OWN_PROMPT)
    assert not list(agent.project.iterdir())
    terminal.press("Enter", until="It is made.")
    assert [path.name for path in agent.project.iterdir()] == ["made"]
    assert len(asked_of(desk)) == 2


@pytest.mark.parametrize("closed", [True, False], ids=["fail-closed", "open"])
def test_what_becomes_of_a_call_that_nobody_decides_in_time_is_what_was_said(
    claude: MakeClaude, closed: bool
) -> None:
    """The agent's own rule allows it, so without fail-closed it runs, and nobody is asked."""
    own = {"permissions": {"allow": ["Bash(touch *)"]}}
    agent = claude((bash("touch made"),), (Text("I go on."),), settings=own)
    with PlainDesk("--wait", "1") as desk:
        install(agent, desk.address, gate=True, options=("--fail-closed",) if closed else ())
        run = agent.headless("make a file")
        goes_on = "the agent goes on by its own rules, which may run it"
        ends = "UNDECIDED" if closed else f"EXPIRED nobody decided in time: {goes_on}"
        desk.wait_for(f"^#1 {ends}")
    assert (run.exit_code, run.stdout.strip()) == (0, "I go on.")
    assert (agent.project / "made").exists() is not closed
    assert any("Not decided" in one for one in run.last.tool_results()) is closed


@pytest.mark.parametrize("wish", ["allow", "deny no"])
def test_managed_hooks_hold_where_the_users_own_settings_are_left_out(
    claude: MakeClaude, desk: PlainDesk, tmp_path: Path, wish: str
) -> None:
    etc = tmp_path / "etc"
    subprocess.run(["cp", "-a", "/etc/.", str(etc)], check=False, capture_output=True, timeout=60)
    sources = ("--setting-sources", "project,local")
    agent = claude((bash("touch made"),), (Text("Done."),), etc=etc)
    (agent.project / ".claude").mkdir()
    switch = agent.project / ".claude" / "settings.json"
    switch.write_text('{"disableAllHooks": true}', encoding="utf-8")

    def in_place(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            isolated(with_etc(etc, [CRABHOOK, *command, "--project", str(agent.project)])),
            capture_output=True,
            text=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "HOME": str(agent.home)},
            check=False,
        )

    place = ("claude", "--scope", "managed")
    done = in_place("install", *place, "--gate", "--server", desk.address)
    assert done.returncode == 0, done.stderr
    looked = in_place("doctor", "claude", "--json", "--quick")
    found = {one["id"]: one for one in json.loads(looked.stdout)["findings"]}
    for id_ in ("hook.installed", "hook.current", "hook.switched-on", "server.answers"):
        assert found[id_]["status"] == "ok", found[id_]
    assert "(managed)" in found["hook.installed"]["what"]
    desk.say_when("Bash", wish)
    run = agent.headless("make a file", mode="bypassPermissions", extra_args=sources)
    assert (run.exit_code, run.stdout.strip()) == (0, "Done.")
    assert (agent.project / "made").exists() is (wish == "allow")
    assert in_place("uninstall", *place).returncode == 0
    assert not (etc / "claude-code" / "managed-settings.json").exists()
