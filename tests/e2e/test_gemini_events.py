"""What a real Gemini CLI makes of decisions on the events that are held on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.plain_desk import PlainDesk
from tests.support.turns import Text, ToolUse, shell

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeGemini

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


def hold(desk: PlainDesk, event: str) -> None:
    """Let the next of these events wait for the operator."""
    desk.say(f"hold {event} times=1")
    desk.wait_for(rf"{event}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("deny nothing you should see", ["nothing you should see"]),
        ('output {"llmContent": "a better result"}', ["a better result"]),
    ],
)
def test_a_result_is_hidden_from_the_model_or_replaced(
    gemini: MakeGemini, desk: PlainDesk, words: str, told: list[str]
) -> None:
    agent = gemini(desk.address, (ToolUse("list_directory", {"dir_path": "."}),), (Text("Done."),))
    hold(desk, "AfterTool")
    desk.say_when("list_directory", "allow", words)
    assert agent.headless("look").last.results() == told


def test_a_prompt_is_dropped_and_no_model_is_asked(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(desk.address, (Text("I was asked."),))
    hold(desk, "BeforeAgent")
    terminal = agent.terminal("do something odd", mode="yolo")
    number = desk.wait_for(r"^#(\d+) BeforeAgent ").group(1)
    desk.say(f"{number} deny not today")
    terminal.wait_for("not today")
    assert not agent.requests()


def test_context_beside_a_prompt_reaches_the_model(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(desk.address, (Text("Done."),))
    hold(desk, "BeforeAgent")
    terminal = agent.terminal("work", mode="yolo")
    number = desk.wait_for(r"^#(\d+) BeforeAgent ").group(1)
    desk.say(f"{number} allow mind the gap")
    terminal.wait_for("Done.")
    assert "<hook_context>mind the gap</hook_context>" in agent.requests()[-1].texts()


def test_context_at_a_sessions_beginning_reaches_the_model(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (Text("Done."),))
    hold(desk, "SessionStart")
    terminal = agent.terminal("work", mode="yolo")
    number = desk.wait_for(r"^#(\d+) SessionStart ").group(1)
    desk.say(f"{number} allow this is the test bench")
    terminal.wait_for("Done.")
    assert any("this is the test bench" in text for text in agent.requests()[-1].texts())


def test_a_halt_ends_the_agents_loop_before_the_call_is_made(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (shell("touch made"),), (Text("I go on."),))
    desk.say_when("run_shell_command", "halt the shift is over")
    run = agent.headless("make a file")
    assert not (agent.project / "made").exists()
    assert "I go on." not in run.stdout
    assert "the shift is over" in run.stdout + run.stderr


def test_a_message_reaches_the_agents_user(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(desk.address, (shell("echo out"),), (Text("Done."),))
    terminal = agent.terminal("say it", mode="yolo")
    desk.say(f"{desk.card('run_shell_command')} tell hello from the desk")
    terminal.wait_for("hello from the desk")


def test_after_escape_at_the_agent_even_an_allow_runs_nothing(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(desk.address, (shell("touch made"),), (Text("I go on."),))
    terminal = agent.terminal("make a file", mode="yolo")
    number = desk.card("run_shell_command")
    terminal.wait_for("Executing Hook")
    terminal.key("Escape")
    terminal.wait_for("Request cancelled")
    desk.say(f"{number} allow")
    desk.wait_for(rf"^#{number} delivered")
    terminal.wait_for(lambda screen: "Executing Hook" not in screen)
    assert not (agent.project / "made").exists()


def test_the_end_of_a_session_ends_its_cards(gemini: MakeGemini, desk: PlainDesk) -> None:
    agent = gemini(desk.address, (shell("touch made"),))
    terminal = agent.terminal("make a file", mode="yolo")
    number = desk.card("run_shell_command")
    terminal.close()
    desk.wait_for(rf"^#{number} WITHDRAWN")
    assert not (agent.project / "made").exists()
