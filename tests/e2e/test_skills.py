"""A real Claude Code loads a skill with a line for the shell: no PreToolUse ever comes for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_claude_code import install
from tests.support.plain_desk import PlainDesk
from tests.support.probe_skill import PATH, SKILL
from tests.support.turns import Text, ToolUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

CALLS = ((ToolUse("Skill", {"skill": "probe"}),), (Text("Done."),))
SAYS = ((Text("Done."),),)
RULES = """\
[[rule]]
verdict = "deny"
match = "Bash(touch *)"
note = "nothing is touched"
"""


def with_skill(agent: Claude) -> Claude:
    """Put the skill into the agent's project."""
    file = agent.project / PATH
    file.parent.mkdir(parents=True)
    file.write_text(SKILL, encoding="utf-8")
    return agent


@pytest.fixture
def ruled() -> Iterator[PlainDesk]:
    desk = PlainDesk()
    desk.write_rules(RULES)
    with desk:
        yield desk


def test_a_skills_line_waits_for_the_gates_desk_and_runs_when_it_is_allowed(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = with_skill(claude(*SAYS))
    install(agent, desk.address, gate=True)
    terminal = agent.terminal("/probe")
    number = desk.card("Bash")
    assert not (agent.project / "made").exists()
    desk.say(f"{number} allow")
    desk.wait_for(rf"^#{number} ALLOWED")
    terminal.wait_for("Done.")
    assert (agent.project / "made").exists()


def test_a_skill_that_claude_calls_has_a_card_for_the_call_and_one_for_its_line(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = with_skill(claude(*CALLS))
    install(agent, desk.address, gate=True)
    terminal = agent.terminal("use it")
    call = desk.card("Skill")
    desk.say(f"{call} allow")
    line = desk.card("Bash")
    desk.say(f"{line} deny not now")
    terminal.wait_for("Done.")
    assert not (agent.project / "made").exists()
    said = agent.requests()[-1].body
    assert "[not run: blocked by hook: not now]" in str(said)
    shown = "\n".join(desk.said)
    assert "part of skill: probe" in shown
    assert f"a part of call #{call}" in shown


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
def test_a_rule_denies_a_skills_line_in_both_stances(
    claude: MakeClaude, ruled: PlainDesk, gate: bool
) -> None:
    agent = with_skill(claude(*SAYS))
    install(agent, ruled.address, gate=gate)
    run = agent.headless("/probe")
    assert run.stdout.strip() == "Done."
    assert not (agent.project / "made").exists()
    assert "nothing is touched" in str(agent.requests()[-1].body)


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
@pytest.mark.parametrize("closed", [True, False], ids=["fail-closed", "as-the-agent-likes"])
def test_without_a_server_a_skills_line_runs_only_where_the_hook_does_not_fail_closed(
    claude: MakeClaude, gate: bool, closed: bool
) -> None:
    agent = with_skill(claude(*SAYS))
    options = ("--fail-closed",) if closed else ()
    install(agent, f"unix:{agent.folder}/nobody", gate=gate, options=options)
    run = agent.headless("/probe")
    assert run.stdout.strip() == "Done."
    assert (agent.project / "made").exists() is not closed


@pytest.mark.parametrize("closed", [True, False], ids=["fail-closed", "as-the-agent-likes"])
def test_with_the_hook_gone_a_skills_line_runs_only_where_it_does_not_fail_closed(
    claude: MakeClaude, closed: bool
) -> None:
    agent = with_skill(claude(*SAYS))
    options = ("--fail-closed",) if closed else ()
    install(agent, f"unix:{agent.folder}/nobody", gate=True, options=options)
    settings = agent.home / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("crabhook/hook/run.py", "crabhook/gone.py"))
    agent.headless("/probe")
    assert (agent.project / "made").exists() is not closed
