"""docs/how-to/own-hooks.md: its table is the code's, and every example does what the page says it does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from crabhook.sdk.event import COMMON
from tests.docs.sdk_table import PAGE, with_table

TEXT = PAGE.read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n# (\S+)\n(.*?)```", TEXT, re.DOTALL)
SESSIONS = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, source in PROGRAMS:
        (tmp_path / name).write_text(source, encoding="utf-8")
    return tmp_path


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell's, with this Python as `python`."""
    python = Path(sys.executable).parent
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PATH": f"{python}:{os.environ['PATH']}", "HOME": str(folder)},
    )


@pytest.mark.process
@pytest.mark.parametrize("session", SESSIONS, ids=range(len(SESSIONS)))
def test_a_session_on_the_page_goes_as_it_is_shown(folder: Path, session: str) -> None:
    setting = ""
    for part in session.split("\n$ "):
        command, _, shown = part.removeprefix("$ ").partition("\n")
        if command.startswith("export "):
            setting += f"{command}; "
            continue
        done = run(folder, f"{setting}{command}")
        assert (done.returncode, done.stderr + done.stdout) == (0, _whole_lines(shown)), command


def _whole_lines(shown: str) -> str:
    return shown.rstrip("\n") + "\n" if shown.strip() else ""


def test_there_are_examples() -> None:
    assert len(PROGRAMS) >= 6
    assert len(SESSIONS) >= 5
    assert TEXT.count("```python") == len(PROGRAMS)


@pytest.mark.process
def test_the_test_on_the_page_passes(folder: Path) -> None:
    assert run(folder, "python test_no_force.py").returncode == 0


@pytest.mark.thorough
@pytest.mark.process
def test_every_example_is_sound_to_mypy(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file=", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
    )
    assert done.returncode == 0, done.stdout


def test_the_page_has_the_table_of_events() -> None:
    assert with_table(TEXT) == TEXT, "python -m tests.docs.sdk_table writes it anew"


def test_the_page_names_every_common_tool() -> None:
    assert all(f"`{name}`" in TEXT for name in COMMON)
