"""How long an installed hook waits, from the entry in the settings to the operator's word."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crabhook.platforms.installation import AGENT_GRACE, CLIENT_GRACE, USUAL_WAIT
from tests.support.client import finished, sample
from tests.support.plain_desk import PlainDesk, hooks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def installed(address: str, home: Path, *options: str) -> list[str]:
    """The command that an agent starts before a call, as `crabhook install` has written it."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    command = hooks(address, gate=True, options=options)
    subprocess.run(command, check=True, capture_output=True, timeout=60, env=environment)
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    (handler,) = settings["hooks"]["PreToolUse"][0]["hooks"]
    waits = float(handler["args"][handler["args"].index("--wait") + 1])
    if not options:
        assert (waits, handler["timeout"]) == (USUAL_WAIT + CLIENT_GRACE, USUAL_WAIT + AGENT_GRACE)
    return [handler["command"], *handler["args"]]


@contextmanager
def asking(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command as the agent does, with a call for its input."""
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **piped) as hook:
        assert hook.stdin is not None
        hook.stdin.write(sample("PreToolUse-Bash"))
        hook.stdin.close()
        hook.stdin = None
        yield hook


def test_a_question_is_extended_beyond_the_servers_own_time_as_installed(tmp_path: Path) -> None:
    with PlainDesk("--wait", "2") as desk, asking(installed(desk.address, tmp_path)) as hook:
        number, began = desk.card("Bash"), time.monotonic()
        desk.say(f"{number} extend 10h")
        desk.say(f"{number} show")
        left = desk.wait_for(r"time left: (\d+):\d\d:\d\d")
        assert int(left[1]) in (9, 10)
        time.sleep(max(0.0, began + 2.5 - time.monotonic()))
        desk.say(f"{number} allow")
        told = finished(hook).output
    assert told["hookSpecificOutput"]["permissionDecision"] == "allow"


def test_a_server_that_never_gives_up_waits_as_long_as_the_hook_does(tmp_path: Path) -> None:
    with (
        PlainDesk("--wait", "never") as desk,
        asking(installed(desk.address, tmp_path)) as hook,
    ):
        number = desk.card("Bash")
        left = desk.wait_for(r"time left: (\d+):\d\d:\d\d")
        assert int(left[1]) in (23, 24)
        desk.say(f"{number} deny no")
        assert b'"deny"' in finished(hook).stdout
