"""Lines on the standard output."""

import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from contextlib import suppress

import pytest

from crabhook.ui import console
from tests.support.plain_desk import CRABHOOK
from tests.support.port import short_folder
from tests.support.terminal import Terminal


def test_a_line_is_one_line_and_safe(capsys: pytest.CaptureFixture[str]) -> None:
    console.say("a\nb \x1b[2J\u202e")
    shown = capsys.readouterr().out
    assert shown.count("\n") == 1
    assert shown.rstrip("\n").isprintable()


@pytest.mark.parametrize(
    ("is_terminal", "no_colour", "red"), [(True, "", True), (True, "1", False), (False, "", False)]
)
def test_a_warning_is_red_on_a_terminal_that_wants_colours(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_terminal: bool,
    no_colour: str,
    red: bool,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_colour:
        monkeypatch.setenv("NO_COLOR", no_colour)
    console.say("\x1b[0mthis", warning=True)
    console.say("that")
    warning, plain = capsys.readouterr().out.splitlines()
    assert warning == ("\x1b[1;31m␛[0mthis\x1b[0m" if red else "␛[0mthis")
    assert plain == "that"


SENTENCE = "crabhook runs already (process 4711), and takes no desks but its own."
COMMAND = "`crabhook down; crabhook up --operators 0.0.0.0:7444`"


def shown_at(
    columns: int, name: str, monkeypatch: pytest.MonkeyPatch, write: Callable[[], object]
) -> list[str]:
    """What a terminal that is so broad shows, as the standard stream of this name."""
    outer, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, columns))
    shown = b""
    try:
        with monkeypatch.context() as patched, os.fdopen(inner, "w") as stream:
            patched.setattr(sys, name, stream)
            write()
        with suppress(OSError):  # the inner end is closed
            while some := os.read(outer, 4096):
                shown += some
    finally:
        os.close(outer)
    return shown.decode().replace("\r", "").splitlines()


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_on_a_terminal_lines_are_wrapped_at_words_and_commands_stay_whole(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (f"{SENTENCE}  Start it anew: {COMMAND}.", "", f"  {SENTENCE}")

    def write() -> None:
        console.say(*lines, stream=sys.stderr if name == "stderr" else None)

    shown = shown_at(40, name, monkeypatch, write)
    assert shown == [
        "crabhook runs already (process 4711),",
        "and takes no desks but its own.  Start",
        "it anew:",
        f"{COMMAND}.",
        "",
        f"  {SENTENCE}",
    ]


def test_a_row_of_a_list_is_wrapped_below_its_head_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = shown_at(40, "stdout", monkeypatch, lambda: console.say_below(f"{SENTENCE}\x1b"))
    assert shown == [
        "    crabhook runs already (process",
        "      4711), and takes no desks but its",
        "      own.␛",
    ]
    console.say_below(SENTENCE)
    assert capsys.readouterr().out == f"    {SENTENCE}\n"


@pytest.mark.process
def test_install_is_read_in_whole_words_on_a_narrow_terminal() -> None:
    with short_folder() as home:
        install = [CRABHOOK, "install", "claude"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        environment["XDG_RUNTIME_DIR"] = str(home)
        for _ in range(2):
            printed = subprocess.check_output(install, env=environment, text=True, timeout=60)
        # Where a program has ended, tmux says so and moves the first line out of the screen.
        stays = ["sh", "-c", f"{CRABHOOK} install claude; read -r _"]
        with Terminal(stays, environment, columns=60) as person:
            words = printed.split()
            shown = person.wait_for(lambda screen: screen.split()[: len(words)] == words)
        for command in re.findall("`[^`]*`", printed):
            assert command in shown


def test_on_a_pipe_nothing_is_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    console.say(f"{SENTENCE}  {SENTENCE}  {COMMAND}")
    assert capsys.readouterr().out == f"{SENTENCE}  {SENTENCE}  {COMMAND}\n"


def test_json_cannot_move_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console.say_json({"a": "\x1b\u202e\n\x7f"})
    shown = capsys.readouterr().out
    assert shown.isascii()
    assert "\x1b" not in shown
