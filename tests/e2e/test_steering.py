"""Real agents that are told something while they run, or to stop, from a real desk."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_claude_code import everything, install
from tests.support import requirements
from tests.support.codex import Codex
from tests.support.codex import install as install_codex
from tests.support.codex import shell as codex_shell
from tests.support.plain_desk import PlainDesk
from tests.support.turns import Script, Text, ToolUse, bash, shell

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude, MakeGemini
    from tests.support.claude import Claude
    from tests.support.terminal import Terminal
    from tests.support.turns import Turn

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

TASK = {"description": "look", "prompt": "SUB look around", "subagent_type": "general-purpose"}
ALLOWED = ["--allowedTools=Bash,Agent"]


WAITS = "while ! test -e go; do sleep 0.1; done"
"""A command that runs until the test has made a file."""


def session_of(desk: PlainDesk) -> str:
    """The start of the id of the session that was heard of first."""
    return desk.wait_for(r"SessionStart session=([0-9a-f]{4})").group(1)


def told(agent: Claude) -> str:
    """All that the last request of the main conversation tells the model."""
    main = [one.body for one in agent.requests() if one.conversation == "main"]
    return "\n".join(everything(main[-1]))


def in_a_call(make: MakeClaude, desk: PlainDesk) -> tuple[Claude, Terminal, str]:
    """An agent whose first call waits, to be followed by another; and the start of its session."""
    agent = make((bash(WAITS),), (bash("touch made"),), (Text("It is made."),))
    install(agent, desk.address, gate=False)
    terminal = agent.terminal("make a file", extra_args=ALLOWED)
    session = session_of(desk)
    desk.wait_for("PreToolUse Bash")
    return agent, terminal, session


def test_a_note_to_a_running_session_reaches_the_model_with_its_next_call(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent, terminal, session = in_a_call(claude, desk)
    desk.say(f"note {session} use the blue one, please")
    desk.wait_for("note 1 to its main agent waits for its next call: use the blue one, please")
    (agent.project / "go").touch()
    desk.wait_for("note 1 to its main agent was delivered with PostToolUse Bash")
    terminal.wait_for("It is made.")
    assert told(agent).count("Note from the operator: use the blue one, please") == 1
    desk.ask("sessions", "use the blue one, please · delivered with PostToolUse Bash")
    (given, delivered) = [one for one in desk.record() if "note" in one.get("body", one)]
    assert given["request_id"] == ""
    assert delivered["tool"] == "Bash"


def test_a_note_goes_with_the_answer_to_a_call_that_waits_at_a_gate(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude((bash("touch made"),), (Text("It is made."),))
    install(agent, desk.address, gate=True)
    terminal = agent.terminal("make a file")
    session = session_of(desk)
    number = desk.card("Bash")
    desk.say(f"note {session} use the blue one, please")
    desk.wait_for("note 1 to its main agent waits")
    assert not (agent.project / "made").exists()
    desk.say(f"{number} allow")
    desk.wait_for("note 1 to its main agent was delivered with PreToolUse Bash")
    terminal.wait_for("It is made.")
    assert "Note from the operator: use the blue one, please" in told(agent)


def test_a_stopped_session_ends_its_turn_at_its_next_call_and_no_card_waits(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent, terminal, session = in_a_call(claude, desk)
    desk.say(f"stop {session} the wrong branch")
    desk.wait_for("halt session=.* the wrong branch; every call of that session is denied")
    (agent.project / "go").touch()
    desk.wait_for("PreToolUse Bash .*DENIED: the operator halted this session")
    terminal.wait_for("the wrong branch")
    assert not (agent.project / "made").exists()
    assert "It is made." not in terminal.screen()
    assert not [line for line in desk.said if line.startswith("#")]


def with_subagent(make: MakeClaude, desk: PlainDesk, *then: Turn) -> tuple[Claude, Terminal, str]:
    """An agent that has sent a subagent, which waits in a call; and the start of its session."""
    looks = ((bash(WAITS),), (bash("touch made"),), (Text("I looked."),))
    script = Script(turns=((ToolUse("Agent", TASK),), *then), subagents={"SUB": looks})
    agent = make(script=script)
    install(agent, desk.address, gate=False)
    terminal = agent.terminal("Send somebody.", extra_args=ALLOWED)
    session = session_of(desk)
    desk.wait_for("PreToolUse Bash .*-e go;")
    return agent, terminal, session


def test_a_stopped_session_stays_stopped_when_its_subagent_ends_in_the_background(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    later = ((Text("It is sent."),), (bash("touch mine"),))
    agent, terminal, session = with_subagent(claude, desk, *later)
    terminal.wait_for("It is sent.")
    desk.say(f"stop {session} the wrong branch")
    desk.wait_for("every call of that session is denied")
    (agent.project / "go").touch()
    desk.wait_for("PreToolUse Bash .*DENIED.* touch made")
    desk.wait_for("UserPromptSubmit .*task-notification")
    desk.wait_for("PreToolUse Bash .*DENIED.* touch mine")
    assert not (agent.project / "made").exists()
    assert not (agent.project / "mine").exists()


def test_a_stopped_subagent_makes_no_more_calls_and_the_main_agent_goes_on(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    mine = bash(f"{WAITS.replace('go', 'on')}; touch mine")
    agent, terminal, session = with_subagent(claude, desk, (mine,), (Text("All told."),))
    subagent = desk.ask("sessions", r"  general-purpose ([0-9a-f]+): Bash").group(1)
    desk.say(f"note {session}/{subagent} look in the cellar")
    desk.wait_for("note 1 to subagent .* waits")
    desk.say(f"stop {session}/{subagent} no more looking")
    desk.wait_for("every call of that subagent is denied")
    (agent.project / "go").touch()
    desk.wait_for("note 1 to subagent .* was delivered with PostToolUse Bash")
    desk.wait_for("DENIED: the operator halted this session")
    (agent.project / "on").touch()
    desk.wait_for("UserPromptSubmit .*task-notification")  # it ended, and its sender hears of it
    terminal.wait_for("All told.")
    assert not (agent.project / "made").exists()
    assert (agent.project / "mine").exists()
    texts = "\n".join(text for one in agent.requests() for text in everything(one.body))
    assert "Note from the operator: look in the cellar" in texts
    assert "look in the cellar" not in told(agent)


def test_gemini_is_told_a_note_with_a_result_and_a_stop_ends_its_turn(
    gemini: MakeGemini, desk: PlainDesk
) -> None:
    agent = gemini(
        desk.address,
        (shell("echo one"),),
        (shell("touch made"),),
        (shell("touch more"),),
        (Text("Done."),),
    )
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(agent.headless, "go on")
        session = session_of(desk)
        number = desk.card("run_shell_command")
        desk.say(f"note {session} use the blue one, please")
        desk.wait_for("note 1 to its main agent waits")
        desk.say(f"{number} allow")
        desk.wait_for("note 1 to its main agent was delivered with AfterTool run_shell_command")
        number = desk.card("run_shell_command")
        desk.say(f"stop {session} the wrong branch")
        desk.wait_for(f"^#{number} DENIED")
        ended = run.result(90)
    assert "Done." not in ended.stdout
    texts = [text for text in everything(ended.last.body) if "Note from the operator" in text]
    assert any("use the blue one, please" in text for text in texts)
    assert not (agent.project / "made").exists()


def test_codex_is_told_a_note_before_its_call_and_a_stop_denies_each_call(
    tmp_path: Path, desk: PlainDesk
) -> None:
    requirements.insist("codex")
    commands = ("touch one", "touch made", "touch more")
    script = Script((*((codex_shell(one),) for one in commands), (Text("Done."),)))
    agent = Codex(tmp_path / "codex", script)
    install_codex(agent, desk.address, "--gate")
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(agent.headless, "go on")
        session = session_of(desk)
        number = desk.card("Bash")
        desk.say(f"note {session} use the blue one, please")
        desk.wait_for("note 1 to its main agent waits")
        desk.say(f"{number} allow")
        desk.wait_for("note 1 to its main agent was delivered with PreToolUse Bash")
        desk.card("Bash")
        desk.say(f"stop {session} the wrong branch")
        desk.wait_for("DENIED: the operator halted this session .* touch more")
        ended = run.result(90)
    assert ended.told.count("the operator halted this session: the wrong branch") == 2
    told = "\n".join(ended.requests[-1].texts("developer"))
    assert "Note from the operator: use the blue one, please" in told
    assert [path.name for path in agent.project.iterdir()] == ["one"]


def test_an_agent_is_warned_before_it_changes_what_another_live_session_has_changed(
    claude: MakeClaude, tmp_path: Path
) -> None:
    desk = PlainDesk()
    settings = desk.folder / ".config" / "crabhook" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[guard]\nsame_file = "warn"\n', encoding="utf-8")
    shared = tmp_path / "shared.txt"
    first = claude((write_to(shared, "one"),), (Text("It is mine."),))
    reads = ToolUse("Read", {"file_path": str(shared)})
    second = claude((reads,), (write_to(shared, "two"),), (Text("It is ours."),))
    with desk:
        for agent in (first, second):
            install(agent, desk.address, gate=False)
        terminal = first.terminal("write it", mode="bypassPermissions")
        terminal.wait_for("It is mine.")
        run = second.headless("write it, too", mode="bypassPermissions")
        assert (run.stdout.strip(), shared.read_text(encoding="utf-8")) == ("It is ours.", "two")
        warning = f"Another live session took up {shared}"
        assert warning in told(second)
        assert warning not in told(first)


def write_to(path: Path, text: str) -> ToolUse:
    return ToolUse("Write", {"file_path": str(path), "content": text})
