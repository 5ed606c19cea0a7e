"""A real GitHub Copilot CLI, hooks installed by `crabhook install copilot`, a real desk decides."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING

import pytest

from tests.support import requirements
from tests.support.copilot import Copilot, shell
from tests.support.plain_desk import PlainDesk
from tests.support.turns import Text, ToolUse

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeHooked


pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

DONE = (Text("Understood."),)


def files(agent: Copilot) -> list[str]:
    return sorted(path.name for path in agent.project.iterdir())


@pytest.mark.everyday
def test_one_command_is_allowed_and_the_next_denied_with_a_reason(
    copilot: MakeHooked[Copilot], desk: PlainDesk
) -> None:
    agent = copilot(desk.address, (shell("touch one"),), (shell("touch two"),), DONE)
    desk.say_when("Bash", "allow", "deny one is enough")
    run = agent.headless("make two files", "--allow-all-tools")
    assert run.exit_code == 0
    first, second = run.requests[-1].results()
    assert "completed with exit code 0" in first
    assert second == "Denied by preToolUse hook: one is enough"
    assert files(agent) == ["one"]
    assert any("Others of this session wait behind this one" in line for line in desk.said)


def test_an_edited_input_is_what_runs_and_a_note_reaches_the_model(
    copilot: MakeHooked[Copilot], desk: PlainDesk
) -> None:
    agent = copilot(desk.address, (shell("touch made"),), (shell("touch last"),), DONE)
    desk.say_when("Bash", "edit touch other", "allow mind the end")
    run = agent.headless("make a file")
    assert files(agent) == ["last", "other"]
    assert "mind the end" in str(run.requests[-1].body["messages"])


def test_a_companion_is_asked_what_copilot_would_ask_and_grants_it(
    copilot: MakeHooked[Copilot], desk: PlainDesk
) -> None:
    calls = (shell("touch one"), shell("touch two"))
    agent = copilot(desk.address, calls, DONE, options=())
    desk.say_when("Bash", "allow", "deny one is enough")
    run = agent.headless("make two files")
    told = " ".join(run.requests[-1].results())
    assert "Permission denied by a PermissionRequest hook: one is enough" in told
    assert len(files(agent)) == 1
    assert sum("PermissionRequest Bash" in line for line in desk.said) == 2


def test_calls_of_one_turn_wait_together_for_a_companion(
    copilot: MakeHooked[Copilot], desk: PlainDesk
) -> None:
    calls = (shell("touch one"), shell("touch two"))
    agent = copilot(desk.address, calls, DONE, options=())
    terminal = agent.terminal("make two files")
    desk.wait_for("#1 PermissionRequest Bash")
    desk.wait_for("#2 PermissionRequest Bash")
    assert files(agent) == []
    desk.say("1 allow")
    desk.say("2 allow")
    terminal.wait_for("Understood.")
    assert files(agent) == ["one", "two"]


def test_a_forms_answers_reach_the_model_in_a_refusal(
    copilot: MakeHooked[Copilot], desk: PlainDesk
) -> None:
    colour = {"type": "string", "title": "Colour", "enum": ["Red", "Blue"]}
    form = {"type": "object", "properties": {"colour": colour}, "required": ["colour"]}
    asked = ToolUse("ask_user", {"message": "Which colour?", "requestedSchema": form})
    agent = copilot(desk.address, (asked,), DONE, options=())
    terminal = agent.terminal("ask me")
    number = desk.card("AskUserQuestion")
    desk.say(f"{number} answer 1=2")
    terminal.wait_for("Understood.")
    (told,) = agent.requests()[-1].results()
    assert "This is no refusal" in told
    assert '"Which colour?: Colour" = "Blue"' in told


def test_in_an_editor_the_hook_fires_and_its_allow_runs_the_call(
    copilot: MakeHooked[Copilot], desk: PlainDesk
) -> None:
    agent = copilot(desk.address, (shell("touch made"),), DONE)
    desk.say_when("Bash", "allow")
    run = agent.in_an_editor("make a file")
    assert run.stdout.splitlines() == ["end_turn"], run.stderr
    assert files(agent) == ["made"]


def test_without_an_answer_in_time_copilot_goes_on_by_its_own_rules(
    copilot: MakeHooked[Copilot], desk: PlainDesk
) -> None:
    agent = copilot(desk.address, (shell("touch made"),), DONE, options=("--gate", "--wait", "1"))
    text = agent.hooks.read_text("utf-8").replace("--wait 31", "--wait 2")
    agent.hooks.write_text(text, "utf-8")
    run = agent.headless("make a file")
    (told,) = run.requests[-1].results()
    assert "no interactive user response was available" in told
    assert files(agent) == []


@pytest.mark.parametrize(("edition", "made"), [("copilot", ["made"]), ("copilot-older", [])])
def test_a_hook_that_copilot_ends_lets_the_call_run_and_in_an_older_version_denies_it(
    copilot: MakeHooked[Copilot], desk: PlainDesk, edition: str, made: list[str]
) -> None:
    requirements.insist(edition)
    agent = copilot(desk.address, (shell("touch made"),), DONE, edition=edition)
    text = re.sub(r'("timeoutSec": )\d+', r"\g<1>2", agent.hooks.read_text("utf-8"))
    agent.hooks.write_text(text, "utf-8")
    agent.headless("make a file", "--allow-all-tools")
    assert files(agent) == made


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])
def test_a_server_that_is_killed_while_it_is_asked_denies_where_it_was_installed_to(
    copilot: MakeHooked[Copilot], desk: PlainDesk, closed: bool
) -> None:
    options = ("--gate", "--fail-closed") if closed else ("--gate",)
    agent = copilot(desk.address, (shell("touch made"),), DONE, options=options)
    text = agent.hooks.read_text("utf-8").replace(" --wait ", " --reconnect 1 --wait ")
    agent.hooks.write_text(text, "utf-8")
    terminal = agent.terminal("make a file", "--allow-all-tools")
    desk.card("Bash")
    os.kill(desk.process.pid, signal.SIGKILL)
    terminal.wait_for("Understood.")
    assert files(agent) == ([] if closed else ["made"])
    (told,) = agent.requests()[-1].results()
    assert ("crabhook lost the operator" in told) == closed


@pytest.mark.parametrize("words", [("--gate",), ()], ids=["gate", "companion"])
def test_no_server_denies_in_words_where_it_was_installed_to(
    copilot: MakeHooked[Copilot], tmp_path: Path, words: tuple[str, ...]
) -> None:
    closed = (*words, "--fail-closed")
    agent = copilot(f"unix:{tmp_path}/nobody", (shell("touch made"),), DONE, options=closed)
    run = agent.headless("make a file", "--allow-all-tools")
    assert "crabhook cannot ask the operator" in run.requests[-1].results()[0]
    assert files(agent) == []


def test_the_file_of_hooks_goes_with_them(copilot: MakeHooked[Copilot], desk: PlainDesk) -> None:
    agent = copilot(desk.address, (shell("touch made"),), DONE)
    before = sorted(agent.home.rglob("*"))
    agent.uninstall()
    assert set(before) - set(agent.home.rglob("*")) == {agent.hooks}
    run = agent.headless("make a file", "--allow-all-tools")
    assert files(agent) == ["made"]
    assert run.exit_code == 0
