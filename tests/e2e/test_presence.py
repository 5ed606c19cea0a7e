"""Two terminals of the operator's: the full screen in one, `crabhook orders away` and `here` in the other."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING

import pytest

from tests.support import requirements
from tests.support.client import Client, sample
from tests.support.plain_desk import CRABHOOK
from tests.support.port import short_folder
from tests.support.team import RIGHT, WRONG, founded
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@pytest.fixture
def home() -> Iterator[Path]:
    """A home with a team of one."""
    requirements.insist()
    with short_folder() as folder:
        yield folder


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home),
    }


def away(shell: Terminal, typed: str, *options: str) -> None:
    shell.submit(" ".join(("crabhook", "orders", "away", *options)))
    shell.wait_for("Your passphrase for the team ours:")
    shell.type(typed)
    shell.key("Enter")


def test_the_full_screen_shows_at_once_what_the_other_terminal_said(home: Path) -> None:
    server = f"unix:{home}/crabhook/crabhook.sock"
    with socket.create_server(("127.0.0.1", 0)) as free:
        desks = f"127.0.0.1:{free.getsockname()[1]}"
    config = home / ".config" / "crabhook"
    founded(home / ".local" / "state" / "crabhook" / "team", time.time()).seat(config, "ann", desks)
    with (
        Terminal(
            [CRABHOOK, "serve", "--operators", desks], environment(home), columns=110, rows=30
        ) as screen,
        Terminal(["sh"], environment(home), columns=110, rows=20) as shell,
    ):
        screen.wait_for("0 waiting")
        hook = Client(server, sample("PreToolUse-Bash"))
        screen.wait_for("1 waiting")

        away(shell, WRONG)
        shell.wait_for("That is not it (2 more)")
        shell.key("C-c")
        shell.wait_for("ended: nothing more was changed")  # until then what is typed is dropped
        assert "1 waiting" in screen.screen()
        assert "AWAY" not in screen.screen()

        shell.submit("clear")
        shell.wait_for(lambda shown: "That is not it" not in shown)
        away(shell, RIGHT, "--for", "2h")
        shell.wait_for("1 waiting request was let go")
        screen.wait_for(lambda shown: "AWAY until " in shown and "0 waiting" in shown)
        screen.wait_for("by ann, at laptop")
        screen.wait_for("I AM BACK")
        assert hook.finish().silent
        assert RIGHT not in shell.screen()

        shell.submit("crabhook orders here")
        shell.wait_for("You are here: requests wait for you again.")
        screen.wait_for(lambda shown: "AWAY" not in shown and "ended: away" in shown)
        waiting = Client(server, sample("PreToolUse-Bash"))
        screen.wait_for("1 waiting")
        screen.press(
            "j", until=lambda shown: "▸" in shown and "#2 · " in shown
        )  # the selection stays on what had ended
        screen.press("a", until=lambda shown: "TAKE BACK" in shown or "ALLOWED" in shown)
        assert not waiting.finish().silent
