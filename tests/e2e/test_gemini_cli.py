"""A real Gemini CLI, hooks installed by `crabhook install gemini`, decided from a real desk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.plain_desk import PlainDesk
from tests.support.turns import Text, ToolUse, shell

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeGemini

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

QUESTIONS = {
    "questions": [
        {
            "question": "Which colour?",
            "header": "Colour",
            "type": "choice",
            "multiSelect": False,
            "options": [
                {"label": "Red", "description": "warm"},
                {"label": "Blue", "description": "cold"},
            ],
        },
        {"question": "What name?", "header": "Name", "type": "text", "placeholder": "a name"},
    ]
}


@pytest.mark.everyday
def test_a_denied_command_does_not_run_and_the_model_reads_why(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (shell("touch made"),), (Text("Understood."),))
    desk.say_when("run_shell_command", "deny use write_file, please")
    run = agent.headless("make a file")
    assert (run.exit_code, run.stdout.strip()) == (0, "Understood.")
    assert run.last.results() == ["Tool execution blocked: use write_file, please"]
    assert not (agent.project / "made").exists()
    desk.wait_for(r"^#1 delivered")


def test_an_allowed_command_runs_where_the_agent_asks_nobody_else(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (shell("touch made"),), (Text("It is made."),))
    desk.say_when("run_shell_command", "allow")
    run = agent.headless("make a file")
    assert (run.exit_code, run.stdout.strip()) == (0, "It is made.")
    assert (agent.project / "made").exists()


def test_a_rewritten_command_is_what_runs(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(desk.address, (shell("touch made"),), (Text("Done."),))
    desk.say_when("run_shell_command", "edit touch other")
    run = agent.headless("make a file")
    assert run.exit_code == 0
    assert [path.name for path in agent.project.iterdir()] == ["other"]


def test_a_note_beside_an_allow_reaches_the_model_with_the_result(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (shell("echo out"),), (Text("Done."),))
    desk.say_when("run_shell_command", "allow this once, and never again")
    result = agent.headless("say it").last.results()[0]
    assert "<hook_context>this once, and never again</hook_context>" in result


def test_a_denial_that_interrupts_ends_the_turn(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(desk.address, (shell("touch made"),), (Text("I go on."),))
    desk.say_when("run_shell_command", "deny --interrupt that is enough for today")
    run = agent.headless("make a file")
    assert not (agent.project / "made").exists()
    assert "I go on." not in run.stdout
    assert "that is enough for today" in run.stderr + run.stdout


def test_parallel_calls_that_look_alike_are_decided_each_by_itself(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    twin = shell("echo x >> made")
    agent = gemini(desk.address, (twin, twin), (Text("Done."),))
    terminal = agent.terminal("twice, please", mode="yolo")
    first, second = desk.card("run_shell_command"), desk.card("run_shell_command")
    desk.say(f"{first} allow")
    desk.wait_for(rf"^#{first} delivered")
    desk.say(f"{second} deny once is enough")
    desk.wait_for(rf"^#{second} delivered")
    terminal.wait_for("Done.")
    assert (agent.project / "made").read_text() == "x\n"


def test_questions_are_answered_and_the_model_reads_the_answers(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (ToolUse("ask_user", QUESTIONS),), (Text("Thank you."),))
    terminal = agent.terminal("ask me", mode="yolo")
    number = desk.card("ask_user")
    desk.wait_for("limit: Gemini CLI takes no answers from a hook")
    desk.say(f'{number} answer 1=2 2="Scuttle, the 2nd"')
    terminal.wait_for("Thank you.")
    told = agent.requests()[-1].results()[0]
    assert "no failure: the user was asked elsewhere and has answered" in told
    assert "0. Which colour?\n   Answer: Blue\n1. What name?\n   Answer: Scuttle, the 2nd" in told


def test_an_allow_leaves_the_agents_own_dialog_to_its_user(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (shell("touch made"),), (Text("It is made."),))
    terminal = agent.terminal("make a file")
    number = desk.card("run_shell_command")
    desk.wait_for("limit: Gemini CLI asks its own user as well after an allow")
    desk.say(f"{number} allow")
    terminal.wait_for("Allow execution")
    assert not (agent.project / "made").exists()
    terminal.press("Enter", until="It is made.")
    assert (agent.project / "made").exists()


def test_an_agent_that_stops_is_told_to_go_on(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(desk.address, (Text("I stop here."),), (Text("More is done."),))
    desk.say("hold AfterAgent times=1")
    desk.wait_for("AfterAgent")
    terminal = agent.terminal("work", mode="yolo")
    number = int(desk.wait_for(r"^#(\d+) AfterAgent ").group(1))
    desk.say(f"{number} keep-going and now the tests")
    terminal.wait_for("More is done.")
    assert "and now the tests" in agent.requests()[-1].texts()


def test_a_server_that_cannot_be_reached_denies_where_it_was_installed_to(
    gemini: MakeGemini, tmp_path: Path
) -> None:
    nobody, closed = f"unix:{tmp_path}/nobody", ("--fail-closed",)
    agent = gemini(nobody, (shell("touch made"),), (Text("Understood."),), options=closed)
    run = agent.headless("make a file")
    assert "crabhook cannot ask the operator" in run.last.results()[0]
    assert not (agent.project / "made").exists()


def test_without_a_server_the_agent_goes_on_by_its_own_policy(
    gemini: MakeGemini, tmp_path: Path
) -> None:
    agent = gemini(f"unix:{tmp_path}/nobody", (shell("touch made"),), (Text("It is made."),))
    run = agent.headless("make a file")
    assert run.stdout.strip() == "It is made."
    assert (agent.project / "made").exists()


def test_a_folder_that_is_not_trusted_runs_no_hooks(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(desk.address, (shell("echo out"),), (Text("Nobody was asked."),), trusted=False)
    terminal = agent.terminal("say it")
    terminal.wait_for("Nobody was asked.")
    assert agent.requests()[-1].results()
    assert not any(line.startswith("#") for line in desk.said)


def test_a_plan_is_sent_back_with_what_to_change(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(
        desk.address,
        (ToolUse("exit_plan_mode", {"plan_filename": "plan.md"}),),
        (Text("I change it."),),
    )
    terminal = agent.terminal("plan it", mode="plan")
    number = desk.card("exit_plan_mode")
    desk.wait_for("limit: an allow opens Gemini CLI's own dialog")
    desk.say(f"{number} deny name the tests as well")
    terminal.wait_for("I change it.")
    assert agent.requests()[-1].results() == ["Tool execution blocked: name the tests as well"]


def test_a_hook_that_the_agent_gives_up_dies_at_once_and_its_card_with_it(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (shell("echo out"),), (Text("I went on."),))
    settings = json.loads(agent.settings.read_text(encoding="utf-8"))
    settings["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = 2_000  # milliseconds
    agent.settings.write_text(json.dumps(settings), encoding="utf-8")
    run = agent.headless("say it")
    assert run.stdout.strip() == "I went on."
    number = desk.card("run_shell_command")
    desk.wait_for(rf"^#{number} WITHDRAWN")
