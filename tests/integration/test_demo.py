"""The demo in a terminal, for one operator and for two; its agent reacts, and nothing is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.examples import share
from tests.support.terminal import Terminal

pytestmark = pytest.mark.process

CRABHOOK = str(Path(sys.executable).with_name("crabhook"))


@pytest.fixture
def home() -> Iterator[Path]:
    """Return a folder with a short name: a socket's path has to be short."""
    with tempfile.TemporaryDirectory(prefix="crabhook-", dir="/tmp") as folder:
        yield Path(folder)


def environment_of(home: Path) -> dict[str, str]:
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR")
    return dict(os.environ, TERM="screen", LC_ALL="C.UTF-8") | dict.fromkeys(homes, str(home))


def test_the_agent_of_the_demo_does_as_it_is_told_and_the_end_tells_of_it(home: Path) -> None:
    with Terminal([CRABHOOK, "demo"], environment_of(home), columns=100, rows=40) as terminal:
        terminal.wait_for("rm -rf build")
        terminal.press("d", until="deny #1")
        terminal.type("keep build")
        terminal.wait_for("keep build")
        time.sleep(0.5)  # typed at once it counts as pasted, and so does a key right behind it
        terminal.key("Enter")
        terminal.wait_for("#2")  # what takes the place of the call that was denied
        terminal.press("Down", until="You denied my Bash: keep build")
        terminal.press("A", until="in this project")
        terminal.press("2", until=lambda shown: "ALLOWED" in shown)
        terminal.wait_for("#3")
        terminal.press("q", until="leave the desk? 1 request waits")
        terminal.press("y", until="What did the agent read?")
        shown = terminal.screen()
        assert "crabhook: 1 allowed · 1 denied." in shown
        assert "1 request still waited." in shown
        assert "crabhook install claude" in shown
        assert "to decide:      crabhook" in shown
        terminal.type("j")
        terminal.key("Enter")
        terminal.wait_for('"permissionDecisionReason": "keep build"')
        assert terminal.ended(60)
    assert not list(home.iterdir())  # the rule and the record are thrown away


@pytest.mark.thorough
def test_the_demo_stays_on_the_screen_at_its_end_until_the_person_leaves(home: Path) -> None:
    with Terminal([CRABHOOK, "demo"], environment_of(home), columns=100, rows=40) as terminal:
        for number in range(1, 5):
            terminal.wait_for(f"#{number} ")
            time.sleep(0.8)  # until the card is armed
            terminal.press("p", until="PASS in")
            terminal.wait_for("PASSED")
        terminal.wait_for("that was all · H what happened · S sessions · q ends")
        terminal.press("H", until="History · newest first")
        terminal.press("Escape", until=lambda shown: "History · newest first" not in shown)
        terminal.press("q", until="What did the agent read?")
    assert not list(home.iterdir())


def test_without_a_terminal_two_people_decide_at_once_and_one_of_them_does(home: Path) -> None:
    done = subprocess.run(
        [CRABHOOK, "demo", "--team"],
        env=environment_of(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    shown = done.stdout
    assert shown.count("is already decided: this answer changed nothing") == 1
    decided = re.findall(
        r"^(\w+): (allow|deny) by (ann|bob) at (\S+) laptop \(127.0.0.1\)$", shown, re.MULTILINE
    )
    made = [(tool, verdict) for tool, verdict, _, _ in decided]
    read = re.findall(r'agent │ reads for (\w+): .*"permissionDecision":"(\w+)"', shown)
    assert made == read  # what they decided is what the agent read, in its order
    first, *others = decided
    assert first[:3] in (("Bash", "allow", "ann"), ("Bash", "deny", "bob"))
    assert [one[:3] for one in others if one[0] != "Bash"] == [
        ("Edit", "deny", "bob"),
        ("AskUserQuestion", "allow", "ann"),
        ("ExitPlanMode", "allow", "bob"),
    ]
    assert not done.stderr
    assert not list(home.iterdir())


@pytest.mark.thorough
def test_in_a_terminal_each_of_two_people_has_a_desk_that_shows_what_the_other_decides(
    home: Path,
) -> None:
    command = [CRABHOOK, "demo", "--team"]
    with Terminal(command, environment_of(home), columns=200, rows=40) as terminal:
        terminal.wait_for(lambda shown: shown.count("#1 · Claude Code · uploader") == 2)
        assert "ann, admin, at ann's laptop" in terminal.screen()
        assert "bob, decider, at bob's laptop" in terminal.screen()
        terminal.press("a", until=lambda shown: shown.count("ALLOWED") >= 4)
        terminal.wait_for(lambda shown: shown.count("#2 ") >= 2)
        terminal.key("F2")
        terminal.press("Down", until=lambda shown: shown.count("▸ #2 · Claude Code") == 2)
        terminal.press("d", until="deny #2")
        terminal.type("no thanks")
        terminal.wait_for("no thanks")
        time.sleep(0.5)  # as above
        terminal.key("Enter")
        terminal.wait_for("DENIED by bob at bob's laptop")  # on ann's desk
        terminal.wait_for(lambda shown: shown.count("#3 ") >= 2)
        terminal.press("q", until="leave the desk?")
        terminal.press("y", until=lambda shown: "bob, decider" not in shown)  # his desk is gone
        terminal.press("q", until="leave the desk?")
        terminal.press("y", until="Edit: deny by bob at bob's laptop (127.0.0.1)")
        assert "Bash: allow by ann at ann's laptop (127.0.0.1)" in terminal.screen()
        assert terminal.ended(60)
    assert not list(home.iterdir())


@pytest.mark.thorough
@pytest.mark.parametrize("end", share([signal.SIGHUP, signal.SIGTERM], 0))
def test_a_demo_whose_terminal_goes_leaves_nothing_either(home: Path, end: signal.Signals) -> None:
    with Terminal([CRABHOOK, "demo"], environment_of(home), columns=100, rows=40) as terminal:
        terminal.wait_for("rm -rf build")
        assert list(home.iterdir())
        terminal.signal(end)
        assert terminal.ended(60)
    assert not list(home.iterdir())


def test_a_demo_that_is_ended_from_outside_leaves_nothing_either(home: Path) -> None:
    with subprocess.Popen(
        [CRABHOOK, "demo", "--team"],
        env=environment_of(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as played:
        assert played.stdout is not None
        assert any("#1 PreToolUse" in line for line in played.stdout)
        played.terminate()
        try:
            played.communicate(timeout=60)
        finally:
            played.kill()
    assert played.returncode == 0
    assert not list(home.iterdir())
