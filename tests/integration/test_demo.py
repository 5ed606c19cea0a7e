"""The demo in a terminal: its agent reacts, `A` works in it, and it ends with what was decided."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

pytestmark = pytest.mark.process

CRABHOOK = str(Path(sys.executable).with_name("crabhook"))


@pytest.fixture
def home() -> Iterator[Path]:
    """Return a folder with a short name: a socket's path has to be short."""
    with tempfile.TemporaryDirectory(prefix="crabhook-", dir="/tmp") as folder:
        yield Path(folder)


def test_the_agent_of_the_demo_does_as_it_is_told_and_the_end_tells_of_it(home: Path) -> None:
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR")
    environment = dict(os.environ, TERM="screen", LC_ALL="C.UTF-8")
    environment |= dict.fromkeys(homes, str(home))
    with Terminal([CRABHOOK, "demo"], environment, columns=100, rows=40) as terminal:
        terminal.wait_for("rm -rf build", 30)
        terminal.press("d", until="deny #1")
        terminal.type("keep build")
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
        assert "crabhook serve" in shown
        terminal.type("j")
        terminal.key("Enter")
        terminal.wait_for('"permissionDecisionReason": "keep build"')
        assert terminal.ended(10)
    assert not list(home.iterdir())  # the rule and the record are thrown away
