"""What the help says of each command, and of the hook's own options, is so."""

import re
import shlex
from pathlib import Path

import pytest

from crabhook.cli import ALL, HELP, main, parser_of
from crabhook.cli.commands import ACTIONS, COMMANDS, HOOK_OPTIONS, OUT_OF_SIGHT, subcommands
from crabhook.hook import _OPTIONS, Options
from crabhook.platforms import HOOKED

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_commands_help_has_an_example_that_can_be_run_and_its_page(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    shown, about = capsys.readouterr().out, COMMANDS[name]
    assert f"example:\n  {about.example}\n" in shown
    page = re.search(r"^page: (.*)$", shown, re.MULTILINE)
    assert page
    assert (ROOT / page[1]).is_file()
    line = re.split(r" [<>] ", about.example)[0].rpartition("| ")[2]
    program, command, *arguments = shlex.split(line)
    assert (program, command) == ("crabhook", name)
    parser_of(name)[0].parse_args(arguments)


def test_each_actions_help_has_an_example_that_can_be_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = {f"{name} {action}" for name in COMMANDS for action in subcommands(parser_of(name)[0])}
    assert found == set(ACTIONS)
    for action, example in ACTIONS.items():
        with pytest.raises(SystemExit, match="0"):
            main([*action.split(), "--help"])
        assert f"example:\n  {example}\n" in capsys.readouterr().out
        assert example.startswith(f"crabhook {action}")
        _, name, *arguments = shlex.split(example)
        parser_of(name)[0].parse_args(arguments)


def test_the_help_fits_one_screen_and_shows_the_commands_in_sight() -> None:
    rows = HELP.splitlines()
    assert len(rows) <= 24
    assert max(map(len, rows)) <= 80
    in_sight = [name for name, about in COMMANDS.items() if about.group != OUT_OF_SIGHT]
    assert listed(HELP) == in_sight
    assert len(in_sight) <= 20


def test_the_help_for_all_lists_every_command_and_every_option_of_the_hook() -> None:
    assert listed(ALL) == [*COMMANDS]
    assert max(map(len, ALL.splitlines())) <= 80
    options = {option.split()[0]: variable for option, (variable, _) in HOOK_OPTIONS.items()}
    assert options.keys() == {*_OPTIONS, "--companion"}
    for name, (variable, _) in _OPTIONS.items():
        if variable:
            assert options[name] == variable.decode()
        assert name in ALL


def listed(text: str) -> list[str]:
    """The commands that a help lists, in order; a heading may stand before one."""
    table = text.split("\n\n")[1]
    return re.findall(r"^(?:[a-z, ]{12})([a-z-]+) ", table, re.MULTILINE)


def test_the_defaults_in_the_help_are_the_hooks_own() -> None:
    own, told = Options(), 0
    for option, (_, what) in HOOK_OPTIONS.items():
        name = option.split()[0].strip("-").replace("-", "_")
        if (default := re.search(r"\(([a-z0-9]+)\)$", what)) and hasattr(own, name):
            value = getattr(own, name)
            assert default[1] == (f"{value:g}" if isinstance(value, float) else str(value)), option
            told += 1
    assert told == 7


def test_the_page_has_the_same_options_of_the_hook() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    section = page.split("## The hook client")[1].split("\n## ")[0]
    written = re.findall(r"^\| `(--[a-z-]+)", section, re.MULTILINE)
    assert written == [option.split()[0] for option in HOOK_OPTIONS]


def test_help_of_a_command_is_that_commands_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["help", "rules"], ["rules", "--help"]):
        with pytest.raises(SystemExit, match="0"):
            main(words)
    asked, given = capsys.readouterr().out.split("usage: ")[1:]
    assert asked == given
    for words, text in (
        (["help"], HELP),
        (["--help"], HELP),
        (["-h"], HELP),
        (["help", "all"], ALL),
    ):
        assert main(words) == 0
        assert capsys.readouterr().out == text


def test_every_registered_agent_is_named_where_a_hook_is_told_whose_it_is() -> None:
    _, told = HOOK_OPTIONS["--platform NAME"]
    assert f"whose hook it is: {' '.join(HOOKED)} (claude)" == told
