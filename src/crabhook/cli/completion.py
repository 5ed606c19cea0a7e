"""Print a shell's completion of crabhook's commands, options and their values.

The parsers of the arguments make the script, which starts no Python while somebody types. It is the
file completion.SHELL beside this module, filled with rows: see `_rows`.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from crabhook.cli.commands import COMMANDS, FIRST, command_of, subcommands

_KINDS = {
    **dict.fromkeys(("FILE", "PATH", "PROGRAM"), "file"),
    **dict.fromkeys(("DIR", "FOLDER"), "directory"),
}
PLACES = {
    "bash": "~/.local/share/bash-completion/completions/crabhook",
    "zsh": '"${fpath[1]}/_crabhook"',
    "fish": "~/.config/fish/completions/crabhook.fish",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare for which shell."""
    what = "the shell you type in: %(choices)s"
    parser.add_argument("shell", metavar="SHELL", choices=tuple(PLACES), help=what)


def run(arguments: argparse.Namespace) -> int:
    """Print the script; return 0."""
    sys.stdout.write(script(arguments.shell))
    return 0


def script(shell: str) -> str:
    """Return what this shell is to read to complete crabhook's arguments."""
    text = Path(__file__).with_suffix(f".{shell}").read_text(encoding="utf-8")
    root = _root()
    rows = "\n".join(
        row
        for place, parser in {"": root, **subcommands(root)}.items()
        for row in dict.fromkeys(_rows(f"crabhook {place}".rstrip(), parser))
    )
    if shell == "fish":
        rows = rows.replace("\\", "\\\\")
    quote = "\\'" if shell == "fish" else "'\\''"
    return text.replace("PLACE", PLACES[shell]).replace("ROWS", rows.replace("'", quote))


def _root() -> argparse.ArgumentParser:
    """Return one parser of everything, each command's below it."""
    parser = argparse.ArgumentParser("crabhook")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers()
    for name, about in COMMANDS.items():
        command_of(name).add_arguments(commands.add_parser(name, help=about.what))
    return parser


def _rows(place: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the words for each place: place, word, meaning, with tabs between.

    A place is the commands so far, perhaps with an option that takes a value. The words <file>,
    <directory> and <text> mean any such.
    """
    words: dict[str, str] = {}
    yield from _options(place, parser)
    if first := subcommands(parser).get(FIRST):  # which may be left out
        yield from _options(place, first)
    for action in parser._actions:  # noqa: SLF001 - argparse tells it nowhere else
        if not action.option_strings:
            words |= dict.fromkeys(map(str, action.choices or ()), "")
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - likewise
            words |= {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001
    for word, what in (words or {"<file>": ""}).items():
        yield f"{place}\t{word}\t{what}"


def _options(place: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = parser._get_formatter()  # noqa: SLF001 - as above
    for action in parser._actions:  # noqa: SLF001 - likewise
        what = formatter._expand_help(action) if action.help else ""  # noqa: SLF001 - likewise
        for option in action.option_strings:
            yield f"{place}\t{option}\t{what.partition(' (default')[0]}"
            if action.nargs != 0:
                for value in action.choices or (f"<{_kind(action)}>",):
                    yield f"{place} {option}\t{value}\t"


def _kind(action: argparse.Action) -> str:
    if action.metavar is None and action.type is Path:
        return "file"
    return _KINDS.get(str(action.metavar), "text")
