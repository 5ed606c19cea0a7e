"""Lines on the standard output."""

import pytest

from crabhook.cli import terminal


def test_a_line_is_one_line_and_safe(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("a\nb \x1b[2J\u202e")
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
    terminal.say("\x1b[0mthis", warning=True)
    terminal.say("that")
    warning, plain = capsys.readouterr().out.splitlines()
    assert warning == ("\x1b[1;31m␛[0mthis\x1b[0m" if red else "␛[0mthis")
    assert plain == "that"


def test_json_cannot_move_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say_json({"a": "\x1b\u202e\n\x7f"})
    shown = capsys.readouterr().out
    assert shown.isascii()
    assert "\x1b" not in shown


def test_what_a_call_is_about_is_its_command_or_file_or_how_its_input_begins() -> None:
    assert terminal.about({"timeout": 3, "command": "ls"}) == "ls"
    assert terminal.about({"file_path": "/a"}) == "/a"
    assert terminal.about({"x": "é"}) == '{"x": "é"}'
    assert terminal.about(None) == "null"


def test_what_is_long_is_cut_and_shows_it() -> None:
    assert terminal.short("a" * 100) == "a" * 100
    assert terminal.short("a" * 101) == "a" * 99 + "…"
    assert terminal.short("ab\n", 3) == "ab␊"
