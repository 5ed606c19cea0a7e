"""mypy refuses an answer that an event cannot carry, and takes every one that it can."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]

FINE = """
from crabhook.sdk import Answer, Event, PreToolUse, SessionStart, Stop, ask_operator, on, run

@on(PreToolUse)
def guard(event: PreToolUse) -> Answer | None:
    if event.command:
        return event.rewrite(event.tool_input | {"command": "true"})
    return ask_operator(event) or event.deny("nobody there").telling_user("denied")

@on(Stop)
def keep(event: Stop) -> Answer | None:
    return event.keep_going("test it")

@on(Event)
def log(event: Event) -> None:
    print(event.name)
"""

WRONG = {
    "event.deny('x')": "Stop",
    "event.allow()": "Stop",
    "event.context('x')": "Stop",
    "event.keep_going('x')": "PreToolUse",
    "event.block('x')": "PreToolUse",
    "event.halt('x')": "SessionStart",
    "event.ask()": "PermissionRequest",
    "event.deny('x') ": "Unknown",
    "event.block('x') ": "Notification",
    "'deny'": "PreToolUse",
    "True": "PreToolUse",
    "event.tell_model": "Event",
}


@pytest.mark.thorough
def test_mypy_sees_what_an_event_can_be_told(tmp_path: Path) -> None:
    lines = ["from crabhook.sdk import *", *FINE.splitlines()]
    expected = set()
    for number, (answer, kind) in enumerate(WRONG.items()):
        lines += [f"@on({kind})", f"def wrong{number}(event: {kind}) -> Answer | None:"]
        lines.append(f"    return {answer}")
        expected.add(len(lines))
    lines += ["@on(Stop)", "def another(event: PreToolUse) -> Answer | None:", "    return None"]
    expected.add(len(lines) - 2)
    lines.append('run(guard, keep, log, on_error="deny")')  # last: nothing runs after it
    hook = tmp_path / "hook.py"
    hook.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file=", "hook.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
    )
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert {int(line.split(":")[1]) for line in errors} == expected, done.stdout
