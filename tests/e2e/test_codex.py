"""A real Codex CLI, hooks installed by `crabhook install codex`, decided from a real desk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support import requirements
from tests.support.codex import Codex, beyond_the_sandbox, install, shell
from tests.support.plain_desk import PlainDesk
from tests.support.turns import Script, Text, ToolUse, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Protocol

    from tests.support.terminal import Terminal

    class MakeCodex(Protocol):
        """Makes an installation of Codex whose model says these turns."""

        def __call__(self, *turns: Turn) -> Codex: ...


pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

OWN_PROMPT = "Would you like to run the following command?"
"""The question of Codex's own approval dialog."""

ASKED = "Which colour?"
QUESTIONS = {
    "questions": [
        {
            "id": "colour",
            "header": "Colour",
            "question": ASKED,
            "options": [
                {"label": "Red", "description": "warm"},
                {"label": "Blue", "description": "cold"},
            ],
        }
    ]
}
PATCH = "*** Begin Patch\n*** Add File: made\n+from the model\n*** End Patch\n"


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[MakeCodex]:
    """Make an installation of Codex under the test's folder; whatever runs is ended with it."""
    requirements.insist("codex")
    made: list[Codex] = []

    def make(*turns: Turn) -> Codex:
        made.append(Codex(tmp_path / f"codex-{len(made)}", Script(turns)))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.everyday
def test_a_denied_command_does_not_run_and_the_model_reads_why(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((shell("touch made"),), (Text("Understood."),))
    install(agent, desk.address, "--gate")
    desk.say_when("Bash", "deny use the other file, please")
    run = agent.headless("make a file")
    assert (run.exit_code, run.stdout.strip()) == (0, "Understood.")
    assert "use the other file, please" in run.told
    assert not (agent.project / "made").exists()


def test_a_companions_rules_hold_where_codex_asks_nobody(codex: MakeCodex, desk: PlainDesk) -> None:
    rules = desk.folder / ".config" / "crabhook" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text(
        '[[rule]]\nverdict = "deny"\nmatch = "Bash(touch denied)"\nnote = "not this file"\n'
        '[[rule]]\nverdict = "ask-operator"\nmatch = "Bash(touch asked)"\n'
    )
    commands = ("touch denied", "touch asked", "touch free")
    agent = codex(*((shell(command),) for command in commands), (Text("Understood."),))
    install(agent, desk.address, "--companion")
    desk.say_when("Bash", "deny not now")
    run = agent.headless("make files")
    assert (run.exit_code, run.stdout.strip()) == (0, "Understood.")
    assert "not this file" in run.told
    assert "not now" in run.told
    assert [path.name for path in agent.project.iterdir()] == ["free"]


def test_a_rewritten_command_is_what_runs(codex: MakeCodex, desk: PlainDesk) -> None:
    agent = codex((shell("touch another"),), (Text("It is made."),))
    install(agent, desk.address, "--gate")
    desk.say_when("Bash", "edit touch made")
    run = agent.headless("make a file")
    assert "Process exited with code 0" in run.told
    assert [path.name for path in agent.project.iterdir()] == ["made"]


@pytest.mark.parametrize("words", ["deny not that file", "allow"])
def test_a_patch_is_held_like_a_command(codex: MakeCodex, desk: PlainDesk, words: str) -> None:
    agent = codex((ToolUse("apply_patch", {"input": PATCH}),), (Text("Understood."),))
    install(agent, desk.address, "--gate")
    desk.say_when("apply_patch", words)
    run = agent.headless("make a file")
    assert ("not that file" in run.told) == (words != "allow")
    assert (agent.project / "made").exists() == (words == "allow")


def test_a_note_beside_an_allow_reaches_the_model(codex: MakeCodex, desk: PlainDesk) -> None:
    agent = codex((shell("true"),), (Text("Understood."),))
    install(agent, desk.address, "--gate")
    desk.say_when("Bash", "allow this once, and never again")
    run = agent.headless("do it")
    assert "this once, and never again" in run.requests[-1].texts("developer")


@pytest.mark.parametrize("stance", ["--companion", "--gate"])
def test_an_allow_on_the_permission_request_runs_the_call_with_no_dialog(
    codex: MakeCodex, desk: PlainDesk, stance: str
) -> None:
    agent = codex((beyond_the_sandbox("touch made"),), (Text("It is made."),))
    install(agent, desk.address, stance)
    terminal = agent.terminal("make a file")
    number = desk.card("Bash")
    assert not (agent.project / "made").exists()
    desk.say(f"{number} allow")
    desk.wait_for(rf"^#{number} ALLOWED")
    seen = until(terminal, "It is made.")
    assert OWN_PROMPT not in seen
    assert (agent.project / "made").exists()
    if stance == "--gate":  # what was allowed on PreToolUse is not asked again
        desk.wait_for("the same call was decided before", again=True)


def test_a_command_that_was_changed_before_the_call_is_approved_as_it_was_changed(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((beyond_the_sandbox("touch another"),), (Text("It is made."),))
    install(agent, desk.address, "--gate")
    terminal = agent.terminal("make a file")
    desk.say(f"{desk.card('Bash')} edit touch made")
    assert OWN_PROMPT not in until(terminal, "It is made.")
    assert [path.name for path in agent.project.iterdir()] == ["made"]


def test_a_note_beside_an_approval_reaches_the_model_with_the_result(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((beyond_the_sandbox("touch made"),), (Text("It is made."),))
    install(agent, desk.address)
    terminal = agent.terminal("make a file")
    desk.say(f"{desk.card('Bash')} allow this once, and never again")
    terminal.wait_for("It is made.")
    assert "this once, and never again" in agent.requests()[-1].texts("developer")


def test_two_calls_at_once_are_each_decided_for_themselves(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    calls = (beyond_the_sandbox("touch one"), beyond_the_sandbox("touch two"))
    agent = codex(calls, (Text("Understood."),))
    install(agent, desk.address, "--gate")
    terminal = agent.terminal("make two files")
    first, second = desk.card("Bash"), desk.card("Bash")
    allowed = "one" if "touch one" in shown(desk, first) else "two"
    desk.say(f"{second} deny not that one")
    desk.say(f"{first} allow")
    assert OWN_PROMPT not in until(terminal, "Understood.")
    assert [path.name for path in agent.project.iterdir()] == [allowed]


def shown(desk: PlainDesk, number: int) -> str:
    """Return what the desk has said of a card."""
    said = "\n".join(desk.said)
    return said[said.index(f"#{number} PreToolUse") :].split("answer with:")[0]


def until(terminal: Terminal, words: str) -> str:
    """Wait for words on the screen; return all that was seen on it until then."""
    seen: list[str] = []

    def look(screen: str) -> bool:
        seen.append(screen)
        return words in screen

    terminal.wait_for(look)
    return "\n".join(seen)


def test_a_denied_permission_request_does_not_run_and_the_model_reads_why(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((beyond_the_sandbox("touch made"),), (Text("Understood."),))
    install(agent, desk.address)
    terminal = agent.terminal("make a file")
    desk.say(f"{desk.card('Bash')} deny stay inside, please")
    terminal.wait_for("Understood.")
    assert not (agent.project / "made").exists()
    told = agent.requests()[-1].tool_results()
    assert any("stay inside, please" in one for one in told)


@pytest.mark.parametrize("word", ["ask", "pass"])
def test_handing_back_leaves_the_decision_to_the_agents_own_dialog(
    codex: MakeCodex, desk: PlainDesk, word: str
) -> None:
    agent = codex((beyond_the_sandbox("touch made"),), (Text("It is made."),))
    install(agent, desk.address)
    terminal = agent.terminal("make a file")
    desk.say(f"{desk.card('Bash')} {word}")
    terminal.wait_for(OWN_PROMPT)
    assert not (agent.project / "made").exists()
    terminal.press("Enter", until="It is made.")
    assert (agent.project / "made").exists()


def test_a_call_passed_at_the_gate_is_not_approved_when_the_agent_asks(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((beyond_the_sandbox("touch made"),))
    install(agent, desk.address, "--gate")
    terminal = agent.terminal("make a file")
    desk.say(f"{desk.card('Bash')} pass")
    terminal.wait_for(OWN_PROMPT)
    assert not (agent.project / "made").exists()


def say(terminal: Terminal, line: str, until: str) -> None:
    """Type a line and press Enter, again if need be: right after letters it counts as a paste."""
    terminal.type(line)
    terminal.wait_for(line)
    terminal.press("Enter", until=until)


def test_questions_are_answered_by_a_refusal_that_states_the_answers(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((ToolUse("request_user_input", QUESTIONS),), (Text("Thank you."),))
    install(agent, desk.address, "--gate")
    terminal = agent.terminal()
    terminal.wait_for("? for shortcuts")
    say(terminal, "/plan", until="Plan mode (shift+tab")
    say(terminal, "ask me", until="waiting for the crabhook operator")
    number = desk.card("request_user_input")
    desk.say(f"{number} answer 1=2")
    terminal.wait_for("Thank you.")
    told = "\n".join(agent.requests()[-1].tool_results())
    assert f'"{ASKED}" = "Blue"' in told


def test_escape_while_the_operator_thinks_withdraws_the_card(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((beyond_the_sandbox("touch made"),))
    install(agent, desk.address)
    terminal = agent.terminal("make a file")
    number = desk.card("Bash")
    terminal.key("Escape")
    desk.wait_for(rf"^#{number} WITHDRAWN")
    desk.say(f"{number} allow")
    desk.wait_for("changed nothing")
    assert not (agent.project / "made").exists()


def test_without_a_server_the_agent_goes_on_by_its_own_rules(codex: MakeCodex) -> None:
    agent = codex((shell("touch made"),), (Text("It is made."),))
    install(agent, f"unix:{agent.folder}/nobody", "--gate")
    run = agent.headless("make a file")
    assert run.stdout.strip() == "It is made."
    assert (agent.project / "made").exists()


def test_a_hook_that_fails_closed_denies_where_no_server_is(codex: MakeCodex) -> None:
    agent = codex((shell("touch made"),), (Text("Understood."),))
    install(agent, f"unix:{agent.folder}/nobody", "--gate", "--fail-closed")
    run = agent.headless("make a file")
    assert "crabhook cannot ask the operator" in run.told
    assert not (agent.project / "made").exists()


def test_a_hook_that_fails_closed_denies_when_crabhook_is_gone(codex: MakeCodex) -> None:
    agent = codex((shell("touch made"),), (Text("Understood."),))
    install(agent, f"unix:{agent.folder}/nobody", "--gate", "--fail-closed")
    written = agent.settings / "hooks.json"
    written.write_text(written.read_text().replace("crabhook/hook/run.py", "crabhook/gone/run.py"))
    run = agent.headless("make a file")
    assert "run crabhook install codex" in run.told
    assert not (agent.project / "made").exists()


def test_a_hook_that_nobody_answers_denies_before_codex_gives_it_up(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((shell("touch made"),), (Text("Understood."),))
    install(agent, desk.address, "--gate", "--fail-closed", "--wait", "1")
    written = agent.settings / "hooks.json"
    hooks = json.loads(written.read_text())
    (handler,) = hooks["hooks"]["PreToolUse"][0]["hooks"]
    handler["command"] = handler["command"].replace("--wait 31", "--wait 2")
    handler["timeout"] = 10
    written.write_text(json.dumps(hooks))
    run = agent.headless("make a file")
    assert "Not decided: nobody answered in time" in run.told
    assert not (agent.project / "made").exists()


def test_a_hook_that_codex_kills_withdraws_its_card(codex: MakeCodex, desk: PlainDesk) -> None:
    agent = codex((shell("touch made"),), (Text("It is made."),))
    install(agent, desk.address, "--gate")
    written = agent.settings / "hooks.json"
    hooks = json.loads(written.read_text())
    hooks["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = 1
    written.write_text(json.dumps(hooks))
    run = agent.headless("make a file")
    number = desk.card("Bash")
    desk.wait_for(rf"^#{number} WITHDRAWN")
    assert run.stdout.strip() == "It is made."  # a hook that is killed decides nothing


def test_an_unreviewed_hook_is_skipped_and_the_installation_says_so(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((shell("touch made"),), (Text("It is made."),))
    said = install(agent, desk.address, "--gate")
    assert "/hooks" in said
    run = agent.headless("make a file", unreviewed=False)
    assert run.stdout.strip() == "It is made."
    assert not any(line.startswith("#") for line in desk.said)


def test_hooks_that_were_reviewed_in_the_terminal_run_in_headless_runs_too(
    codex: MakeCodex, desk: PlainDesk
) -> None:
    agent = codex((shell("touch made"),), (Text("Understood."),))
    install(agent, desk.address, "--gate")
    terminal = agent.terminal(unreviewed=False)
    terminal.wait_for("Hooks need review")
    terminal.press("2", until="\u203a 2. Trust all and continue")
    terminal.press("Enter", until="? for shortcuts")
    terminal.close()
    install(agent, desk.address, "--gate")  # the same again needs no new review
    desk.say_when("Bash", "deny not in here either")
    run = agent.headless("make a file", unreviewed=False)
    assert "not in here either" in run.told
    assert not (agent.project / "made").exists()
