"""The real agents in their ACP mode, an editor's double, and `crabhook acp` between the two."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_headless import install as install_claude
from tests.support import requirements
from tests.support.acp_agents import (
    ADAPTER,
    Copilot,
    OpenCode,
    bash,
    edited,
    environment_of,
    told,
)
from tests.support.claude import Claude
from tests.support.gemini import Gemini
from tests.support.plain_desk import PlainDesk
from tests.support.qwen import Qwen
from tests.support.qwen import shell as qwen_shell
from tests.support.turns import Script, Text, ToolUse, Turn, shell
from tests.support.turns import bash as claude_bash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.support.agent import Installed

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

MAKERS = {"gemini": Gemini, "qwen": Qwen, "copilot": Copilot, "opencode": OpenCode}
SHELLS = {"gemini": shell, "qwen": qwen_shell, "copilot": bash, "opencode": bash}
QUESTIONS = {
    "questions": [
        {
            "question": "Which colour?",
            "header": "Colour",
            "options": [
                {"label": "Red", "description": "red"},
                {"label": "Blue", "description": "blue"},
            ],
            "multiSelect": False,
        }
    ]
}


@pytest.fixture
def ending() -> Iterator[ExitStack]:
    with ExitStack() as ending:
        yield ending


def made(agent: Installed) -> list[str]:
    return sorted(path.name for path in agent.project.iterdir() if not path.name.startswith("."))


def install(name: str, folder: Path, ending: ExitStack, *turns: Turn, errands: Mapping[str, tuple[Turn, ...]] | None = None) -> Gemini | Qwen | Copilot | OpenCode:  # fmt: skip
    requirements.insist(name)
    script = Script(turns, errands or {})
    agent: Gemini | Qwen | Copilot | OpenCode = MAKERS[name](folder / name, script, 200)  # type: ignore[abstract]
    ending.callback(agent.close)
    return agent


def card(desk: PlainDesk) -> int:
    """The number of the next request's card, once the desk has all of it."""
    number = int(desk.wait_for(r"^#(\d+) session/request_permission")[1])
    desk.wait_for("answer with:")
    return number


@pytest.mark.parametrize("name", ["gemini", "qwen", "copilot", "opencode"])
def test_the_desk_allows_and_denies_and_the_editor_answers_what_it_answers_first(
    name: str, tmp_path: Path, desk: PlainDesk, ending: ExitStack
) -> None:
    calls = [(SHELLS[name](f"touch {file}"),) for file in ("one", "two", "three")]
    agent = install(name, tmp_path, ending, *calls, (Text("Done."),))
    editor = ending.enter_context(edited(agent, name, agent.environment, "--server", desk.address))
    turn = editor.prompt(editor.open(str(agent.project)), "make three files")
    for word in ("allow", "deny"):
        asked = editor.asked(120)
        desk.say(f"{card(desk)} {word}")
        taken_back = editor.next(lambda said: said.get("method") == "$/cancel_request")
        assert taken_back["params"]["requestId"] == asked["id"]
        editor.choose(asked, "reject_once" if word == "allow" else "allow_once")
        if word == "deny" and name != "gemini":  # which alone goes on after a refusal
            editor.result(turn)
            turn = editor.prompt(asked["params"]["sessionId"], "go on")
    editor.choose(editor.asked(120), "allow_once")
    desk.wait_for("answered in the editor")
    assert editor.result(turn, 120)["result"]["stopReason"] == "end_turn"
    assert made(agent) == ["one", "three"]


def test_a_question_of_qwen_code_is_answered_at_the_desk(
    tmp_path: Path, desk: PlainDesk, ending: ExitStack
) -> None:
    question = ToolUse("ask_user_question", QUESTIONS)
    agent = install("qwen", tmp_path, ending, (question,), (Text("Blue it is."),))
    editor = ending.enter_context(edited(agent, "qwen", agent.environment, "--server", desk.address))  # fmt: skip
    turn = editor.prompt(editor.open(str(agent.project)), "ask me")
    desk.say(f"{card(desk)} answer 1=2")
    assert editor.result(turn, 120)["result"]["stopReason"] == "end_turn"
    assert any("Blue" in result for result in told(agent))


def test_where_qwen_code_fires_hooks_as_well_a_call_is_asked_about_once(
    tmp_path: Path, desk: PlainDesk, ending: ExitStack
) -> None:
    calls = [(qwen_shell("touch one"),), (qwen_shell("touch two"),)]
    agent = install("qwen", tmp_path, ending, *calls, (Text("Done."),))
    assert isinstance(agent, Qwen)
    agent.install(desk.address, "--companion")
    editor = ending.enter_context(edited(agent, "qwen", agent.environment, "--server", desk.address))  # fmt: skip
    turn = editor.prompt(editor.open(str(agent.project)), "make two files")
    first = int(desk.wait_for(r"^#(\d+) PermissionRequest")[1])
    desk.say(f"{first} allow")
    second = int(desk.wait_for(r"^#(\d+) PermissionRequest")[1])
    desk.say(f"{second} pass")
    editor.choose(editor.asked(120), "allow_once")
    assert editor.result(turn, 120)["result"]["stopReason"] == "end_turn"
    assert made(agent) == ["one", "two"]
    assert not any(re.match(r"#\d+ session/request_permission", line) for line in desk.said)
    assert editor.methods().count("session/request_permission") == 1


def test_a_subagents_call_is_asked_about_once_and_its_parents_like_call_again(
    tmp_path: Path, desk: PlainDesk, ending: ExitStack
) -> None:
    errand = {
        "subagent_type": "general-purpose",
        "description": "Look",
        "prompt": "ERRAND look",
        "run_in_background": False,
    }
    calls = [(ToolUse("agent", errand),), (qwen_shell("touch made"),)]
    errands = {"ERRAND": ((qwen_shell("touch made"),), (Text("I looked."),))}
    agent = install("qwen", tmp_path, ending, *calls, (Text("Done."),), errands=errands)
    assert isinstance(agent, Qwen)
    agent.install(desk.address, "--companion")
    editor = ending.enter_context(edited(agent, "qwen", agent.environment, "--server", desk.address))  # fmt: skip
    turn = editor.prompt(editor.open(str(agent.project)), "send somebody")
    for _ in ("the errand", "the subagent's call", "the main agent's"):
        number = int(desk.wait_for(r"^#(\d+) PermissionRequest")[1])
        desk.say(f"{number} pass")
        editor.choose(editor.asked(120), "allow_once")
    assert editor.result(turn, 120)["result"]["stopReason"] == "end_turn"
    assert made(agent) == ["made"]
    assert not any(re.match(r"#\d+ session/request_permission", line) for line in desk.said)


def test_questions_of_claude_code_are_a_form_that_is_filled_in_at_the_desk_or_in_the_editor(
    tmp_path: Path, desk: PlainDesk, ending: ExitStack
) -> None:
    requirements.insist(ADAPTER)
    question = ToolUse("AskUserQuestion", QUESTIONS)
    agent = Claude(
        tmp_path / "claude", Script(((question,), (question,), (Text("So be it."),))), 200
    )
    ending.callback(agent.close)
    editor = ending.enter_context(edited(agent, "claude", environment_of(agent), "--server", desk.address))  # fmt: skip
    session = editor.open(str(agent.project), elicitation={"form": {}})
    editor.call("session/set_mode", sessionId=session, modeId="default")
    turn = editor.prompt(session, "ask me twice")
    for content in ({}, {"question_0": "Red"}):
        dialog = editor.next(lambda said: said.get("method") == "elicitation/create", 120)
        number = int(desk.wait_for(r"^#(\d+) elicitation/create")[1])
        if content:
            editor.send(id=dialog["id"], result={"action": "accept", "content": content})
            desk.wait_for("answered in the editor")
        else:
            desk.say(f"{number} accept question_0=Blue")
    assert editor.result(turn, 120)["result"]["stopReason"] == "end_turn"
    first, second = [request.tool_results() for request in agent.requests()][-1]
    assert '"Which colour?"="Blue"' in first
    assert '"Which colour?"="Red"' in second


def test_a_call_of_claude_codes_subagent_is_one_card_for_hook_and_editor(
    tmp_path: Path, desk: PlainDesk, ending: ExitStack
) -> None:
    requirements.insist(ADAPTER)
    errand = {
        "description": "Look",
        "prompt": "ERRAND look",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    script = Script(
        ((ToolUse("Agent", errand),), (Text("Done."),)),
        {"ERRAND": ((claude_bash("touch made"),), (Text("I looked."),))},
    )
    agent = Claude(tmp_path / "claude", script, 200)
    ending.callback(agent.close)
    install_claude(agent, desk.address, gate=False)
    editor = ending.enter_context(edited(agent, "claude", environment_of(agent), "--server", desk.address))  # fmt: skip
    session = editor.open(str(agent.project))
    editor.call("session/set_mode", sessionId=session, modeId="default")
    turn = editor.prompt(session, "send somebody")
    editor.asked(120)
    desk.wait_for("asked as", again=True)
    desk.say("1 allow")
    assert editor.result(turn, 120)["result"]["stopReason"] == "end_turn"
    assert made(agent) == ["made"]
    assert not any(line.startswith("#2 ") for line in desk.said)
