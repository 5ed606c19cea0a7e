"""The harness itself, proved on the real Claude Code with trivial hooks."""

from __future__ import annotations

import json
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import requirements
from tests.support.claude import command_hook, hook_settings
from tests.support.launcher import OUT_OF_TIME
from tests.support.turns import Script, Text, ToolUse, bash

if TYPE_CHECKING:
    from tests.e2e.conftest import MakeClaude

pytestmark = pytest.mark.e2e

PROMPT = "Do you want to proceed?"
"""The question of Claude Code's own permission prompt for a Bash call."""

WAITING_HOOK = """
import pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
def note(number, frame):
    (folder / "signal").write_text(signal.Signals(number).name)
    sys.exit(1)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, note)
(folder / "waiting").touch()
time.sleep(20)
(folder / "late").touch()
print(sys.argv[2])
"""


def answering(event: str, **answer: Any) -> str:
    """A shell command that gives one answer to every hook call."""
    output = {"hookSpecificOutput": {"hookEventName": event, **answer}}
    return f"printf %s {shlex.quote(json.dumps(output))}"


def waiting(folder: Path, reply: str = "") -> str:
    """A shell command that waits for long, noting in the folder what became of it."""
    folder.mkdir()
    return shlex.join(["exec", sys.executable, "-c", WAITING_HOOK, str(folder), reply])


def appears(path: Path, seconds: float = 60) -> bool:
    """Whether a file comes to be, within so many seconds."""
    deadline = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_a_denied_call_does_not_run_and_the_model_is_told_why(claude: MakeClaude) -> None:
    deny = answering(
        "PreToolUse", permissionDecision="deny", permissionDecisionReason="not on my watch"
    )
    agent = claude(
        (bash("touch made"),),
        (Text("Understood."),),
        settings=hook_settings({"PreToolUse": [command_hook(deny)]}),
    )
    run = agent.headless("make a file")
    assert (run.exit_code, run.stdout.strip()) == (0, "Understood.")
    assert "not on my watch" in run.last.tool_results()[0]
    assert not (agent.project / "made").exists()


def test_without_hooks_the_person_at_the_terminal_is_asked(claude: MakeClaude) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    terminal = agent.terminal()
    terminal.wait_for("manual mode on")
    terminal.submit("make a file")
    assert "touch made" in terminal.wait_for(PROMPT)
    assert not (agent.project / "made").exists()
    terminal.press("Enter", until="It is made.")
    assert (agent.project / "made").exists()


def test_a_waiting_permission_request_hook_leaves_the_dialog_usable(
    claude: MakeClaude, tmp_path: Path
) -> None:
    hook = tmp_path / "hook"
    settings = hook_settings({"PermissionRequest": [command_hook(waiting(hook))]})
    agent = claude((bash("touch made"),), (Text("It is made."),), settings=settings)
    terminal = agent.terminal("make a file")
    terminal.wait_for(PROMPT)
    assert appears(hook / "waiting")
    terminal.press("Enter", until="It is made.")
    assert (agent.project / "made").exists()
    assert not (hook / "signal").exists()


def test_escape_ends_a_waiting_pre_tool_use_hook_with_sigterm(
    claude: MakeClaude, tmp_path: Path
) -> None:
    hook = tmp_path / "hook"
    settings = hook_settings({"PreToolUse": [command_hook(waiting(hook))]})
    agent = claude((bash("touch made"),), settings=settings)
    terminal = agent.terminal("make a file")
    assert appears(hook / "waiting")
    terminal.key("Escape")
    assert appears(hook / "signal")
    assert (hook / "signal").read_text() == "SIGTERM"
    terminal.wait_for("Interrupted")
    assert not (agent.project / "made").exists()


def running_under(folder: Path) -> list[str]:
    """The command lines of all processes that name this folder."""
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it may end while we look
            lines.append(file.read_bytes().decode(errors="replace"))
    return [line for line in lines if str(folder) in line]


def test_nothing_outlives_a_closed_terminal(claude: MakeClaude, tmp_path: Path) -> None:
    hook = tmp_path / "hook"
    settings = hook_settings({"PermissionRequest": [command_hook(waiting(hook))]})
    agent = claude((bash("touch made"),), settings=settings)
    terminal = agent.terminal("make a file")
    assert appears(hook / "waiting")
    assert running_under(tmp_path)
    agent.close()
    assert terminal.ended()
    assert not running_under(tmp_path)
    assert not terminal.folder.exists()


def test_a_run_that_takes_too_long_is_ended_with_all_its_hooks(
    claude: MakeClaude, tmp_path: Path
) -> None:
    hook = tmp_path / "hook"
    settings = hook_settings({"PreToolUse": [command_hook(waiting(hook))]})
    run = claude((bash("touch made"),), settings=settings, seconds=6).headless("make a file")
    assert run.exit_code == OUT_OF_TIME
    assert (hook / "waiting").exists()
    assert not running_under(tmp_path)


@pytest.mark.parametrize(
    ("required", "outcome"), [("1", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_a_missing_agent_fails_the_tests_where_agents_are_required(
    monkeypatch: pytest.MonkeyPatch, required: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr(requirements, "missing", lambda _: ("a crab",))
    monkeypatch.setenv(requirements.REQUIRED, required)
    with pytest.raises(outcome, match="a crab"):
        requirements.insist()


def test_the_agent_has_loopback_alone_and_an_environment_of_its_own(claude: MakeClaude) -> None:
    look = "import json, os, socket; print(json.dumps([socket.if_nameindex(), dict(os.environ)]))"
    hook = f"{shlex.join([sys.executable, '-c', look])} > seen"
    agent = claude(settings=hook_settings({"UserPromptSubmit": [command_hook(hook)]}))
    assert agent.headless("hello").exit_code == 0
    interfaces, environment = json.loads((agent.project / "seen").read_text())
    assert [name for _, name in interfaces] == ["lo"]
    assert environment["HOME"] == str(agent.home)
    assert "PYTEST_CURRENT_TEST" not in environment


def test_a_subagent_speaks_from_its_own_script(claude: MakeClaude) -> None:
    errand = {
        "description": "Look",
        "prompt": "ERRAND look around",
        "subagent_type": "general-purpose",
    }
    script = Script(
        turns=((ToolUse("Agent", errand | {"run_in_background": False}),), (Text("All told."),)),
        subagents={"ERRAND": ((Text("The subagent looked."),),)},
    )
    run = claude(script=script).headless("send somebody")
    assert run.stdout.strip() == "All told."
    assert any("The subagent looked." in text for text in run.last.texts())
