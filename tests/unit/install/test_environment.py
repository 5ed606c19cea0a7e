"""What has a say in our hooks' environment is known, all that our own client reads included."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crabhook.hook import _OPTIONS
from crabhook.install.program import MOVES, AffectedHooks, moves
from crabhook.platforms.claude.settings import groups
from crabhook.platforms.installation import Installation


def test_every_variable_that_the_client_reads_is_one_that_moves_a_hook() -> None:
    read = {variable.decode() for variable, _ in _OPTIONS.values() if variable}
    assert read | {"CRABHOOK_TOKEN", "XDG_RUNTIME_DIR"} <= set(MOVES)


def test_what_moves_no_hook_is_not_told() -> None:
    told = moves(["NODE_ENV", "CRABHOOK_SERVER", "PYTHONUNBUFFERED", "BASH_FUNC_python%%"])
    assert [move.name for move in told] == ["CRABHOOK_SERVER", "BASH_FUNC_python%%"]


BESIDE = sorted(
    name
    for name, one in MOVES.items()
    if one.reach not in (AffectedHooks.EVERY, AffectedHooks.UNSAID)
)


@pytest.mark.process
@pytest.mark.parametrize("name", [*BESIDE, "PYTHONSTARTUP"])
def test_what_is_said_to_move_other_hooks_alone_moves_no_installed_one(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('moved')")
    (tmp_path / "posix.py").write_text("print('moved')")
    script = tmp_path / "python3"
    script.write_text("#!/bin/sh\necho moved\n")
    script.chmod(0o755)
    folders = {"PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX"}
    value = str(tmp_path if name in folders else script)
    stub = str(Path(__file__).parents[3] / "src" / "crabhook" / "hook" / "run.py")
    how = Installation(sys.executable, stub, server=f"unix:{tmp_path}/nobody", fail_closed=True)
    (entry,) = groups(how)["PreToolUse"]["hooks"]  # type: ignore[misc]
    event = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash"}
    ran = subprocess.run(
        [entry["command"], *entry["args"]],
        input=json.dumps(event).encode(),
        capture_output=True,
        env={**os.environ, name: value},
        timeout=60,
        check=False,
    )
    answer = json.loads(ran.stdout)["hookSpecificOutput"]
    assert (answer["permissionDecision"], b"moved" in ran.stdout) == ("deny", False)
