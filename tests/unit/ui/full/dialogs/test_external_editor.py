"""The operator's own editor: a private file goes out, its text comes back, nothing is left."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from crabhook.ui.full.dialogs.external_editor import FALLBACK, EditorError, OutsideEditor, editor_of

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary files stand where the test can see that none is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def editor(tmp_path: Path, code: str) -> OutsideEditor:
    """Return an editor that is a Python program; `path` is the file it is to edit."""
    program = tmp_path / "editor.py"
    program.write_text(f"import os, pathlib, sys\npath = pathlib.Path(sys.argv[1])\n{code}\n")
    return OutsideEditor([sys.executable, str(program)])


def test_the_text_the_editor_leaves_comes_back(tmp_path: Path, files: Path) -> None:
    made = editor(tmp_path, "path.write_text(path.read_text().upper())")
    assert made.edit("ls\n-l", "command.sh") == "LS\n-L"
    assert list(files.iterdir()) == []


def test_the_file_is_private_and_named_for_its_kind(tmp_path: Path) -> None:
    code = "path.write_text(f'{path.name} {path.stat().st_mode:o} {path.parent.stat().st_mode:o}')"
    assert editor(tmp_path, code).edit("", "plan.md") == "plan.md 100600 40700"


def test_the_line_end_an_editor_adds_is_not_part_of_the_text(tmp_path: Path) -> None:
    made = editor(tmp_path, "path.write_bytes(path.read_bytes() + b'\\n')")
    assert made.edit("ls", "x") == "ls"
    assert made.edit("ls\n", "x") == "ls\n\n"


def test_a_text_that_is_no_unicode_survives(tmp_path: Path) -> None:
    assert editor(tmp_path, "pass").edit("a\ud800b\r\n\x00", "x") == "a\ud800b\r\n\x00"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sys.exit(3)", "code 3"),
        ("os.kill(os.getpid(), 15)", "code -15"),
        ("path.unlink()", "cannot be read"),
        ("path.write_bytes(b'\\xff')", "cannot be read"),
        ("path.write_bytes(b'x' * 5_000_000)", "larger than"),
    ],
)
def test_an_editor_that_fails_changes_nothing_and_says_so(
    code: str, words: str, tmp_path: Path, files: Path
) -> None:
    with pytest.raises(EditorError, match=words):
        editor(tmp_path, code).edit("ls", "x")
    assert list(files.iterdir()) == []


def test_an_editor_that_is_not_there_is_named(files: Path) -> None:
    with pytest.raises(EditorError, match=r"no-such-editor cannot be started.*\$EDITOR"):
        OutsideEditor(["/no-such-editor"]).edit("ls", "x")
    assert list(files.iterdir()) == []


def test_an_editor_that_suspends_itself_goes_on(tmp_path: Path) -> None:
    made = editor(tmp_path, "os.kill(os.getpid(), 19)\npath.write_text('on')")  # SIGSTOP
    assert made.edit("ls", "x") == "on"


def test_an_editor_that_is_stopped_ends_and_leaves_nothing(tmp_path: Path, files: Path) -> None:
    made = editor(
        tmp_path, f"open({str(tmp_path / 'up')!r}, 'w').close()\nimport time\ntime.sleep(60)"
    )
    faults: list[str] = []

    def run() -> None:
        try:
            made.edit("ls", "x")
        except EditorError as error:
            faults.append(str(error))

    waiting = threading.Thread(target=run)
    waiting.start()
    deadline = time.monotonic() + 60
    while not (tmp_path / "up").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    made.stop()
    waiting.join(60)
    assert faults == ["the editor ended with code -1: the text is as it was"]
    assert list(files.iterdir()) == []
    made.stop()  # once more does no harm


def test_an_editor_that_was_stopped_before_it_began_is_not_started(
    tmp_path: Path, files: Path
) -> None:
    made = editor(tmp_path, f"open({str(tmp_path / 'up')!r}, 'w').close()")
    made.stop()
    with pytest.raises(EditorError, match="not started"):
        made.edit("ls", "x")
    assert not (tmp_path / "up").exists()
    assert list(files.iterdir()) == []


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"EDITOR": "nano"}, ["nano"]),
        ({"VISUAL": "code --wait", "EDITOR": "nano"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "'my editor' -x"}, ["my editor", "-x"]),
        ({}, [FALLBACK]),
    ],
)
def test_the_editor_is_the_operators_own(environment: dict[str, str], command: list[str]) -> None:
    assert editor_of(environment) == command


def test_an_editor_that_cannot_be_read_is_said() -> None:
    with pytest.raises(EditorError, match=r"\$EDITOR"):
        editor_of({"EDITOR": "'vi"})
