"""What a command shows of a call."""

from crabhook.cli import terminal


def test_what_a_call_is_about_is_its_command_or_file_or_how_its_input_begins() -> None:
    assert terminal.about({"timeout": 3, "command": "ls"}) == "ls"
    assert terminal.about({"file_path": "/a"}) == "/a"
    assert terminal.about({"x": "é"}) == '{"x": "é"}'
    assert terminal.about(None) == "null"


def test_what_is_long_is_cut_and_shows_it() -> None:
    assert terminal.short("a" * 100) == "a" * 100
    assert terminal.short("a" * 101) == "a" * 99 + "…"
    assert terminal.short("ab\n", 3) == "ab␊"
