"""A slip is answered with what was probably meant."""

import argparse
from contextlib import suppress

import pytest

from crabhook.cli import main, parser_of
from crabhook.cli.commands import COMMANDS, meant, servers, subcommands, words_of
from tests.support.rows import every_row

SERVERS = (
    *("team servers", "install claude --server", "status --server", "down --server"),
    *("team invite ann --server", "team invite build1 --machine --server"),
)


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["rulse"], "rules"),
        (["sevre"], "serve"),
        (["rules", "lst"], "list"),
        (["rules", "add", "alow", "Bash(ls)"], "allow"),
        (["rules", "explain", "--moed", "plan", "ls"], "--mode"),
        (["serve", "--listne", "unix:/s"], "--listen"),
        (["serve", "--listne=unix:/s"], "--listen"),
        (["log", "verfy"], "verify"),
        (["completion", "bahs"], "bash"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(
    words: list[str], near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert f"did you mean {near}?" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["xyzzy"], ["rules", "xyzzy"], ["serve", "--xyzzy"]])
def test_where_nothing_is_like_it_nothing_is_guessed(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    said = capsys.readouterr().err
    assert "did you mean" not in said
    assert "xyzzy" in said
    assert meant("", ["anything"]) == ""


def test_the_words_of_a_parser_are_those_of_its_actions_too() -> None:
    parser, _ = parser_of("rules")
    assert {"list", "add", "trust"} <= set(subcommands(parser))
    assert {"list", "--note", "ask-operator", "--full"} <= set(words_of(parser))


OPTIONS = [
    (name, place, action)
    for name in COMMANDS
    for place, parser in {"": parser_of(name)[0], **subcommands(parser_of(name)[0])}.items()
    for action in parser._actions
    if action.type is not None
]


@every_row(
    "name, place, action",
    OPTIONS,
)
def test_what_an_option_does_not_take_is_refused_in_words(
    name: str, place: str, action: argparse.Action
) -> None:
    """Python's own word for it would be "invalid int value"."""
    with suppress(argparse.ArgumentTypeError):
        action.type("\x00§")  # type: ignore[misc,operator] - a function of ours, as others there are


@pytest.mark.parametrize("command", SERVERS)
@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("localhost:1,", "has an empty part"),
        (",localhost:1", "has an empty part"),
        ("localhost:1,,localhost:2", "has an empty part"),
        (",", "has an empty part"),
        ("", "has an empty part"),
        ("localhost:1, localhost:1", "names localhost:1 twice"),
        ("unix:/run/s,unix:/run/s", "names unix:/run/s twice"),
    ],
)
def test_a_list_of_servers_with_a_slip_is_refused_by_every_command_that_takes_one(
    command: str, given: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*command.split(), given])
    assert fault in capsys.readouterr().err


@pytest.mark.parametrize("given", ["a:1", "a:1, b:2", "unix:/run/s,b:7443", "unix:/run/x,y.sock"])
def test_a_list_of_servers_without_a_slip_is_taken_as_it_is(given: str) -> None:
    assert servers(given) == given


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_read_in_whole_words_on_a_narrow_terminal(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An example is copied whole, and a list of choices has no blank to be wrapped at."""
    monkeypatch.setenv("COLUMNS", "60")
    parser, _ = parser_of(name)
    for each in (parser, *subcommands(parser).values()):
        head, example = each.format_help().split("\nexample:\n")
        assert not [row for row in head.splitlines() if len(row) > 60]
        assert "crabhook " in example
