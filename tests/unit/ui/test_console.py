"""Lines on the standard output."""

import pytest

from crabhook.ui import console


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


def test_json_cannot_move_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console.say_json({"a": "\x1b\u202e\n\x7f"})
    shown = capsys.readouterr().out
    assert shown.isascii()
    assert "\x1b" not in shown
