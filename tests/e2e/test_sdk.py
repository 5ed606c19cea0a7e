"""Hooks that a person wrote with crabhook.sdk, run by the real agents."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import copilot, qwen, requirements
from tests.support.agent import write_json
from tests.support.claude import command_hook, hook_settings
from tests.support.plain_desk import PlainDesk
from tests.support.turns import Script, Text, bash

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

HOOK = """
import sys
from pathlib import Path
from crabhook.sdk import *

@on(PreToolUse)
def guard(event):
    print("a word on standard output that must not spoil the answer")
    if event.command == "touch fail":
        raise ValueError("the guard is broken")
    if event.command == "touch asked":
        return ask_operator(event, address=sys.argv[2], timeout=60)
    if event.command == "touch another":
        return event.rewrite(event.tool_input | {"command": "touch made"})
    return event.deny("Never make that file; the crab forbids it.")

@on(SessionStart)
def greet(event):
    return event.context("The crab says: mind the claws.")

@on(Stop)
def go_on(event):
    return event.keep_going("The crab says: one thing more.")

run(guard, greet, go_on, on_error=sys.argv[1])
"""


def settings(
    folder: Path, *events: str, on_error: str = "pass", address: str = ""
) -> dict[str, object]:
    script = folder / "own_hook.py"
    script.write_text(HOOK, encoding="utf-8")
    command = shlex.join([sys.executable, str(script), on_error, address])
    return hook_settings({event: [command_hook(command)] for event in events})


def test_a_command_is_denied_and_the_model_reads_why(claude: MakeClaude, tmp_path: Path) -> None:
    agent = claude(
        (bash("touch made"),), (Text("Understood."),), settings=settings(tmp_path, "PreToolUse")
    )
    run = agent.headless("make a file", mode="bypassPermissions")
    assert (run.exit_code, run.stdout.strip()) == (0, "Understood.")
    assert "the crab forbids it" in run.last.tool_results()[0]
    assert not (agent.project / "made").exists()


def test_an_input_is_rewritten_before_it_runs(claude: MakeClaude, tmp_path: Path) -> None:
    agent = claude(
        (bash("touch another"),), (Text("Done."),), settings=settings(tmp_path, "PreToolUse")
    )
    assert agent.headless("make a file", mode="bypassPermissions").exit_code == 0
    assert (agent.project / "made").exists()
    assert not (agent.project / "another").exists()


@pytest.mark.parametrize("on_error", ["pass", "deny"])
def test_006_9_a_broken_hook_is_open_or_closed_as_its_author_chose(
    claude: MakeClaude, tmp_path: Path, on_error: str
) -> None:
    agent = claude(
        (bash("touch fail"),),
        (Text("Done."),),
        settings=settings(tmp_path, "PreToolUse", on_error=on_error),
    )
    run = agent.headless("make a file", mode="bypassPermissions")
    assert (agent.project / "fail").exists() == (on_error == "pass")
    told = run.last.tool_results()[0]
    assert ("ValueError: the guard is broken" in told) == (on_error == "deny")


def test_006_6_context_reaches_the_model_and_an_agent_is_sent_on_once(
    claude: MakeClaude, tmp_path: Path
) -> None:
    agent = claude(
        (Text("First."),), (Text("Second."),), settings=settings(tmp_path, "SessionStart", "Stop")
    )
    run = agent.headless("hello")
    assert run.stdout.strip() == "Second."
    texts = "\n".join(run.last.texts())
    assert "mind the claws" in texts
    assert "one thing more" in texts
    assert [request.conversation for request in run.requests].count("main") == 2


def test_a_hook_of_ones_own_asks_the_operator(claude: MakeClaude, tmp_path: Path) -> None:
    with PlainDesk() as desk:
        agent = claude(
            (bash("touch asked"),),
            (Text("Understood."),),
            settings=settings(tmp_path, "PreToolUse", address=desk.address),
        )
        desk.say_when("Bash", "deny the operator says no")
        run = agent.headless("make a file", mode="bypassPermissions")
    assert "the operator says no" in run.last.tool_results()[0]
    assert not (agent.project / "asked").exists()


EVENTS = ("PreToolUse", "SessionStart", "Stop")
TURNS = ("touch another", "touch fail", "touch last")


def test_qwen_code_runs_no_original_where_another_input_was_wanted(tmp_path: Path) -> None:
    requirements.insist("qwen")
    turns = [*((qwen.shell(line),) for line in TURNS), (Text("Done."),), (Text("Second."),)]
    agent = qwen.Qwen(tmp_path / "qwen", Script(turns), seconds=120)
    write_json(agent.settings, {**qwen.SETTINGS, **settings(tmp_path, *EVENTS)})
    run = agent.headless("make files")
    agent.close()
    assert (run.exit_code, run.stdout.strip()) == (0, "Done.Second.")  # it was sent on once
    changed, failed, denied = run.requests[-1].results()
    assert "another input" in changed
    assert "Exit Code: 0" in failed  # the author let it pass
    assert denied == "Never make that file; the crab forbids it."
    assert [file.name for file in agent.project.iterdir() if file.is_file()] == ["fail"]
    assert "mind the claws" in str(run.requests[0].body)


def test_copilot_runs_the_other_input_and_goes_on_after_a_hook_that_failed(tmp_path: Path) -> None:
    requirements.insist("copilot")
    turns = [*((copilot.shell(line),) for line in TURNS), (Text("Done."),), (Text("Second."),)]
    agent = copilot.Copilot(tmp_path / "copilot", Script(turns), seconds=120)
    agent.hooks.parent.mkdir()
    write_json(agent.hooks, {"version": 1, **settings(tmp_path, *EVENTS)})
    run = agent.headless("make files", "--allow-all-tools")
    agent.close()
    assert run.exit_code == 0
    _, _, denied = run.requests[-1].results()
    assert "the crab forbids it" in denied
    assert sorted(file.name for file in agent.project.iterdir()) == ["fail", "made"]
    assert "mind the claws" in str(run.requests[0].body)
    assert "one thing more" in str(run.requests[-1].body)
