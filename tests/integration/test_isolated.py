"""No code of the caller's environment or folder runs in `crabhook`, whatever it is asked for."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.plain_desk import CRABHOOK

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

MODULES = ("sitecustomize", "usercustomize", "argparse", "json", "socket", "grpc", "crabhook")
MARKS = "open({mark!r}, 'a').write(__name__ + '\\n')\n"


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that hostile modules write to; they lie where Python's variables point."""
    path, hostile = tmp_path / "mark", tmp_path / "hostile"
    hostile.mkdir()
    for name in MODULES:
        (hostile / f"{name}.py").write_text(MARKS.format(mark=str(path)), "utf-8")
    return path


def run(mark: Path, *words: str, program: str = CRABHOOK, stdin: str = "") -> str:
    hostile = mark.with_name("hostile")
    environment = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(mark.parent),
        "XDG_RUNTIME_DIR": str(mark.parent),
        "PYTHONPATH": str(hostile),
        "PYTHONSTARTUP": str(hostile / "sitecustomize.py"),
        "PYTHONUSERBASE": str(hostile),
    }
    done = subprocess.run(
        [program, *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
        cwd=hostile,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "words", [("--version",), ("status",), ("desk",), ("pending",), ("rules", "list"), ("down",)]
)
def test_no_module_of_pythonpath_runs_in_a_command(mark: Path, words: tuple[str, ...]) -> None:
    assert run(mark, *words)
    assert not mark.exists(), mark.read_text("utf-8")


def test_no_module_of_pythonpath_runs_in_the_hook(mark: Path) -> None:
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash"}
    run(mark, stdin=json.dumps({**call, "tool_input": {"command": "ls"}}))
    assert not mark.exists(), mark.read_text("utf-8")


def test_no_module_of_pythonpath_runs_in_a_server_in_the_background(mark: Path) -> None:
    try:
        started = run(mark, "up", "--alone", "0.5", "--otherwise", "deny")
        assert "crabhook runs" in started
    finally:
        run(mark, "down", "--yes")
    assert not mark.exists(), mark.read_text("utf-8")


def test_a_link_to_the_program_starts_it(mark: Path) -> None:
    link = mark.with_name("crabhook")
    link.symlink_to(CRABHOOK)
    assert run(mark, "--version", program=str(link)).startswith("crabhook ")
