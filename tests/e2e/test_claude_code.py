"""A real Claude Code, hooks installed by `crabhook install`, decided from a real desk."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.plain_desk import PlainDesk, hooks
from tests.support.turns import PLAN_FILE, Script, Text, ToolUse, bash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

OWN_PROMPT = "Do you want to proceed?"
"""The question of Claude Code's own permission prompt for a Bash call."""

QUESTIONS = {
    "questions": [
        {
            "question": "Which colours shall it have?",
            "header": "Colours",
            "multiSelect": True,
            "options": [
                {"label": "Red, green", "description": "both"},
                {"label": "Blue", "description": "one"},
                {"label": "None", "description": "plain"},
            ],
        },
        {
            "question": "What is it called?",
            "header": "Name",
            "multiSelect": False,
            "options": [
                {"label": "Crab", "description": "an animal"},
                {"label": "Hook", "description": "a thing"},
            ],
        },
    ]
}


def install(agent: Claude, address: str, *, gate: bool, options: tuple[str, ...] = ()) -> None:
    """Install our hooks into the agent's settings, as its user would."""
    subprocess.run(
        hooks(address, gate=gate, options=options),
        check=True,
        capture_output=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(agent.home)},
    )


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
def test_an_allowed_command_runs(claude: MakeClaude, desk: PlainDesk, gate: bool) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, desk.address, gate=gate)
    terminal = agent.terminal("make a file")
    number = desk.card("Bash")
    assert not (agent.project / "made").exists()
    desk.say(f"{number} allow")
    desk.wait_for(rf"^#{number} ALLOWED")
    desk.wait_for(rf"^#{number} delivered")
    terminal.wait_for("It is made.")
    assert (agent.project / "made").exists()


@pytest.mark.parametrize(
    "gate",
    [
        pytest.param(True, id="gate", marks=pytest.mark.everyday),
        pytest.param(False, id="companion"),
    ],
)
def test_a_denied_command_does_not_run_and_the_model_reads_why(
    claude: MakeClaude, desk: PlainDesk, gate: bool
) -> None:
    agent = claude((bash("touch made"),), (Text("Understood."),))
    install(agent, desk.address, gate=gate)
    terminal = agent.terminal("make a file")
    desk.say(f"{desk.card('Bash')} deny use the Write tool, please")
    terminal.wait_for("Understood.")
    assert not (agent.project / "made").exists()
    told = [result for request in agent.requests() for result in request.tool_results()]
    assert any("use the Write tool, please" in result for result in told)


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
def test_questions_are_answered_and_the_model_reads_the_answers_word_for_word(
    claude: MakeClaude, desk: PlainDesk, gate: bool
) -> None:
    agent = claude((ToolUse("AskUserQuestion", QUESTIONS),), (Text("Thank you."),))
    install(agent, desk.address, gate=gate)
    terminal = agent.terminal("ask me")
    number = desk.card("AskUserQuestion")
    desk.say(f'{number} answer 1=1,2 2="Scuttle, the 2nd" 1.note="bright ones"')
    terminal.wait_for("Thank you.")
    told = "\n".join(agent.requests()[-1].tool_results())
    assert '"Which colours shall it have?"=""Red, green", Blue"' in told.replace("\\", "")
    assert '"What is it called?"="Scuttle, the 2nd"' in told
    assert "bright ones" in told


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
def test_a_note_beside_an_allow_reaches_the_model(
    claude: MakeClaude, desk: PlainDesk, gate: bool
) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, desk.address, gate=gate)
    terminal = agent.terminal("make a file")
    desk.say(f"{desk.card('Bash')} allow this once, and never again")
    terminal.wait_for("It is made.")
    said = [text for request in agent.requests() for text in everything(request.body)]
    assert any("this once, and never again" in text for text in said)


def everything(value: Any) -> Iterator[str]:
    """Every text in a request to the model, whatever it is part of."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else ():
        yield from everything(item)
    for item in value if isinstance(value, list) else ():
        yield from everything(item)


@pytest.mark.parametrize("word", ["ask", "pass"])
def test_handing_back_leaves_the_decision_to_the_agents_own_prompt(
    claude: MakeClaude, desk: PlainDesk, word: str
) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, desk.address, gate=True)
    terminal = agent.terminal("make a file")
    desk.say(f"{desk.card('Bash')} {word}")
    terminal.wait_for(OWN_PROMPT)
    assert not (agent.project / "made").exists()
    terminal.press("Enter", until="It is made.")


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
def test_escape_at_the_agent_withdraws_the_card(
    claude: MakeClaude, desk: PlainDesk, gate: bool
) -> None:
    agent = claude((bash("touch made"),))
    install(agent, desk.address, gate=gate)
    terminal = agent.terminal("make a file")
    number = desk.card("Bash")
    if not gate:
        terminal.wait_for(OWN_PROMPT)
    terminal.key("Escape")
    desk.wait_for(rf"^#{number} WITHDRAWN")
    desk.say(f"{number} allow")
    desk.wait_for("changed nothing")
    assert not (agent.project / "made").exists()


def test_an_answer_at_the_agents_own_dialog_withdraws_the_card(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, desk.address, gate=False)
    terminal = agent.terminal("make a file")
    number = desk.card("Bash")
    terminal.wait_for(OWN_PROMPT)
    terminal.press("Enter", until="It is made.")
    desk.wait_for(rf"^#{number} WITHDRAWN answered at the agent")


def test_without_a_server_the_agents_own_prompt_decides(claude: MakeClaude) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, f"unix:{agent.folder}/nobody", gate=True)
    terminal = agent.terminal("make a file")
    terminal.wait_for(OWN_PROMPT)
    assert not (agent.project / "made").exists()


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
def test_a_headless_run_is_approved_from_afar(
    claude: MakeClaude, desk: PlainDesk, gate: bool
) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, desk.address, gate=gate)
    desk.say_when("Bash", "allow")
    run = agent.headless("make a file")
    assert (run.exit_code, run.stdout.strip()) == (0, "It is made.")
    assert (agent.project / "made").exists()


def test_a_plan_is_approved_and_the_agent_leaves_plan_mode(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude((ToolUse("ExitPlanMode", {}),), (Text("I begin."),))
    install(agent, desk.address, gate=True)
    terminal = agent.terminal("plan it", mode="plan")
    desk.say(f"{desk.card('ExitPlanMode')} allow")
    terminal.wait_for("I begin.")
    assert "plan mode on" not in terminal.screen()


@pytest.mark.parametrize("gate", [True, False], ids=["gate", "companion"])
def test_one_plan_is_one_card_also_when_it_was_sent_back(claude: MakeClaude, *, gate: bool) -> None:
    agent = claude(
        (ToolUse("Write", {"file_path": PLAN_FILE, "content": "# First plan"}),),
        (ToolUse("ExitPlanMode", {}),),
        (ToolUse("Write", {"file_path": PLAN_FILE, "content": "# Second plan"}),),
        (ToolUse("ExitPlanMode", {}),),
        (Text("I begin."),),
    )
    with PlainDesk(HOME=str(agent.home)) as desk:
        install(agent, desk.address, gate=gate)
        terminal = agent.terminal("plan it", mode="plan")
        number = desk.card("ExitPlanMode")
        if not gate:
            terminal.wait_for("Would you like to proceed?")
        desk.say(f"{number} deny add a test")
        desk.say(f"{desk.card('ExitPlanMode')} allow")
        terminal.wait_for("I begin.")
        assert "# Second plan" in "\n".join(desk.said)
        cards = [line for line in desk.said if re.match(r"#\d+ \w+ \w+ session=", line)]
        assert [line.split()[2] for line in cards] == ["ExitPlanMode", "ExitPlanMode"]


def test_a_plan_file_of_another_session_is_passed_and_claude_code_asks_its_user(
    claude: MakeClaude,
) -> None:
    agent = claude()
    other = agent.home / ".claude" / "plans" / "of-another-session.md"
    write = ToolUse("Write", {"file_path": str(other), "content": "# Mine"})
    agent.script = Script(((write,), (Text("I stop."),)))
    with PlainDesk(HOME=str(agent.home)) as desk:
        install(agent, desk.address, gate=False)
        terminal = agent.terminal("plan it", mode="plan")
        terminal.wait_for("Do you want to create of-another-session.md?")
        desk.wait_for("PreToolUse Write .* PASSED")
        assert not other.exists()
