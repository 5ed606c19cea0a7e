"""A real Claude Code, and hooks that somebody else starts or has installed: one card, one call."""

from __future__ import annotations

import json
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.test_claude_code import install
from tests.support.claude import command_hook, hook_settings
from tests.support.client import Client
from tests.support.plain_desk import PlainDesk
from tests.support.turns import Text, bash

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.e2e.conftest import MakeClaude
    from tests.support.claude import Claude
    from tests.support.terminal import Terminal

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

REWRITES = """
import json, pathlib, sys, time
call = json.load(sys.stdin)
until = time.monotonic() + 60
while sys.argv[1:] and not pathlib.Path(sys.argv[1]).exists() and time.monotonic() < until:
    time.sleep(0.05)
said = {"hookEventName": "PreToolUse", "updatedInput": call["tool_input"] | {"command": "touch other"}}
print(json.dumps({"hookSpecificOutput": said}), flush=True)
pathlib.Path(__file__).with_name("rewrote").touch()
"""


def waiting(make: MakeClaude, desk: PlainDesk) -> tuple[Claude, Terminal, Mapping[str, Any]]:
    """An agent that stands before its call, at a gate, as card 1; and what its hook was sent."""
    seen = desk.folder / "seen.json"
    watching = command_hook(f"cat > {seen}.new && mv {seen}.new {seen}")
    agent = make(
        (bash("touch made"),),
        (Text("It is done."),),
        settings=hook_settings({"PreToolUse": [watching]}),
    )
    install(agent, desk.address, gate=True)
    terminal = agent.terminal("make a file")
    assert desk.card("Bash") == 1
    return agent, terminal, json.loads(wait_for(seen).read_text(encoding="utf-8"))


def wait_for(path: Path, seconds: float = 60) -> Path:
    until = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < until, f"{path} was not made"
        time.sleep(0.02)
    return path


def forged(desk: PlainDesk, told: Mapping[str, Any]) -> Client:
    """A second process that says what the agent did not say."""
    return Client(desk.address, json.dumps(told).encode())


def test_a_forged_leg_takes_no_allow_of_the_real_call_and_gives_it_none(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent, terminal, real = waiting(claude, desk)
    forger = forged(desk, {**real, "tool_input": {"command": "ls -la"}})
    assert desk.card("Bash") == 2
    desk.wait_for("ALARM: #1 asks for something else under the same call id", again=True)
    desk.wait_for("^#1 ! #2 asks for something else under the same call id", again=True)
    desk.say("2 allow")
    hook = forger.finish().output["hookSpecificOutput"]
    assert hook["updatedInput"] == {"command": "ls -la"}
    assert not (agent.project / "made").exists()
    desk.say("1 deny not this")
    terminal.wait_for("It is done.")
    assert not (agent.project / "made").exists()


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "UserPromptSubmit", "SessionEnd"])
def test_forged_news_ends_no_call_that_the_agent_waits_for(
    claude: MakeClaude, desk: PlainDesk, event: str
) -> None:
    agent, terminal, real = waiting(claude, desk)
    assert forged(desk, {**real, "hook_event_name": event}).finish().silent
    desk.wait_for(f"^#1 ! {event} says that this is over, but the agent still waits", again=True)
    assert not (agent.project / "made").exists()
    desk.say("1 allow")
    desk.wait_for("^#1 ALLOWED")
    terminal.wait_for("It is done.")
    assert (agent.project / "made").exists()


def test_a_gate_that_fails_closed_denies_when_the_desk_is_closed(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude((bash("touch made"),), (Text("It is done."),))
    install(agent, desk.address, gate=True, options=("--fail-closed",))
    terminal = agent.terminal("make a file")
    desk.card("Bash")
    desk.stop()
    terminal.wait_for("It is done.")
    assert not (agent.project / "made").exists()
    desk.start()


def rewritten(make: MakeClaude, desk: PlainDesk, *until: Path) -> tuple[Claude, Terminal]:
    """An agent at a gate, with a hook of somebody else's that rewrites its call, at once or later."""
    script = desk.folder / "rewrites.py"
    script.write_text(REWRITES, encoding="utf-8")
    command = shlex.join([sys.executable, str(script), *map(str, until)])
    agent = make(
        (bash("touch made"),),
        (Text("It is done."),),
        settings=hook_settings({"PreToolUse": [command_hook(command)]}),
    )
    install(agent, desk.address, gate=True)
    return agent, agent.terminal("make a file")


def test_what_was_approved_runs_though_another_hook_rewrote_it_before(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent, terminal = rewritten(claude, desk)
    number = desk.card("Bash")
    wait_for(desk.folder / "rewrote")
    time.sleep(1)  # in which the agent reads what the other hook wrote
    desk.say(f"{number} allow")
    terminal.wait_for("It is done.")
    assert (agent.project / "made").exists()
    assert not (agent.project / "other").exists()


def test_what_another_hook_made_of_it_afterwards_is_told_in_red(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    decided = desk.folder / "decided"
    agent, terminal = rewritten(claude, desk, decided)
    number = desk.card("Bash")
    desk.say(f"{number} allow")
    desk.wait_for(rf"^#{number} delivered")
    decided.touch()
    desk.wait_for(rf"^#{number} ! what ran is not what was allowed")
    terminal.wait_for("It is done.")
    assert (agent.project / "other").exists()


def test_a_halt_stops_the_rest_of_the_message_and_the_next_prompt_ends_it(
    claude: MakeClaude, desk: PlainDesk
) -> None:
    agent = claude((bash("touch a"), bash("touch b")), (bash("touch c"),), (Text("It is done."),))
    install(agent, desk.address, gate=True)
    terminal = agent.terminal("make two files")
    number = desk.card("Bash")
    desk.say(f"{number} halt enough")
    desk.wait_for("every call of that session is denied until its user's next prompt", again=True)
    terminal.wait_for("enough")
    assert not {"a", "b"} & {path.name for path in agent.project.iterdir()}
    terminal.submit("go on")
    desk.say(f"{desk.card('Bash')} allow")
    terminal.wait_for("It is done.")
