"""Print what lets a shell complete crabhook's commands, options and their values.

The script is made from the same parsers that read the arguments, so it knows
what this version knows; it starts no Python while somebody types.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crabhook.cli.commands import COMMANDS, command_of, subcommands

_FILES = ("FILE", "PATH", "PROGRAM")
_FOLDERS = ("DIR", "FOLDER")
_HEADER = "# crabhook's completion for {shell}: crabhook completion {shell} > {place}"
PLACES = {
    "bash": "~/.local/share/bash-completion/completions/crabhook",
    "zsh": '"${fpath[1]}/_crabhook"',
    "fish": "~/.config/fish/completions/crabhook.fish",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare for which shell."""
    parser.add_argument("shell", choices=tuple(_SCRIPTS), help="the shell you type in")


def run(arguments: argparse.Namespace) -> int:
    """Print the script; return 0."""
    sys.stdout.write(script(arguments.shell))
    return 0


def script(shell: str) -> str:
    """Return what this shell is to read to complete crabhook's arguments."""
    header = _HEADER.format(shell=shell, place=PLACES[shell])
    return _SCRIPTS[shell](header, list(_walk("", _root())))


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its spellings, its help, and what its value is, if it takes one.

    `value`: "" for none, "file", "folder", "text", or "choice" with `choices`.
    """

    names: tuple[str, ...]
    what: str
    value: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """What may follow `path`, the commands given so far with a blank before each."""

    path: str
    commands: dict[str, str] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    choices: tuple[str, ...] = ()


def _root() -> argparse.ArgumentParser:
    """Return one parser of everything, each command's below it."""
    parser = argparse.ArgumentParser("crabhook")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers()
    for name, about in COMMANDS.items():
        command_of(name).add_arguments(commands.add_parser(name, help=about.what))
    return parser


def _walk(path: str, parser: argparse.ArgumentParser) -> Iterator[Place]:
    commands: dict[str, str] = {}
    options: list[Option] = []
    choices: list[str] = []
    for action in parser._actions:  # noqa: SLF001 - argparse tells it nowhere else
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - likewise
            commands |= {one.dest: one.help or "" for one in action._choices_actions}  # noqa: SLF001
        elif action.option_strings:
            options.append(_option(action))
        else:
            choices += map(str, action.choices or ())
    yield Place(path, commands, tuple(options), tuple(choices))
    for name, child in subcommands(parser).items():
        yield from _walk(f"{path} {name}", child)


def _option(action: argparse.Action) -> Option:
    names = tuple(action.option_strings)
    what = (action.help or "").partition(" (default")[0].replace("%%", "%")
    if action.nargs == 0:
        return Option(names, what)
    if action.choices:
        return Option(names, what, "choice", tuple(map(str, action.choices)))
    value = "text"
    if action.metavar in _FILES or (action.metavar is None and action.type is Path):
        value = "file"
    elif action.metavar in _FOLDERS:
        value = "folder"
    return Option(names, what, value)


def _quoted(text: str) -> str:
    """Return a text as one word of bash or zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fished(text: str) -> str:
    """Return a text as one word of fish."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _escaped(words: Iterable[str]) -> str:
    """Return words as one text in which an apostrophe stands for itself, where it is read again."""
    return " ".join(word.replace("'", "\\'") for word in words)


def _listed(words: Iterable[str]) -> str:
    """Return words as bash's `compgen -W` takes them: as they are to stand on the line, quoted."""
    return _quoted(_escaped(words).replace("\\", "\\\\\\"))


def _valued(places: list[Place]) -> Iterator[tuple[str, Option]]:
    """Yield each case of `PATH OPTION` whose option takes a value, as a pattern of a shell."""
    for place in places:
        for option in place.options:
            if option.value:
                cases = (_quoted(f"{place.path} {name}") for name in option.names)
                yield "|".join(cases), option


def _paths(places: list[Place]) -> str:
    return "|".join(_quoted(place.path) for place in places if place.path)


def _bash(header: str, places: list[Place]) -> str:
    values = {
        "file": 'compgen -f -- "$word"',
        "folder": 'compgen -d -- "$word"',
        "text": ":",
    }
    lines = [
        header,
        "_crabhook_reply() {  # without mapfile, which macOS's bash has not",
        "    local one",
        "    COMPREPLY=()",
        '    while IFS= read -r one; do COMPREPLY+=("$one"); done < <("$@")',
        "}",
        "_crabhook() {",
        '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} here="" i',
        "    COMPREPLY=()",
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        '        case "$here ${COMP_WORDS[i]}" in',
        f'            {_paths(places)}) here="$here ${{COMP_WORDS[i]}}" ;;',
        "        esac",
        "    done",
        '    case "$here $before" in',
    ]
    for cases, option in _valued(places):
        choose = f'compgen -W {_listed(option.choices)} -- "$word"'
        do = values.get(option.value, choose)
        lines.append(f"        {cases}) _crabhook_reply {do}; return ;;")
    lines += ["    esac", '    case "$here" in']
    for place in places:
        words = [*place.commands, *place.choices]
        options = [name for option in place.options for name in option.names]
        lines.append(f"        {_quoted(place.path)})")
        lines.append(f"            local words={_listed(words)}")
        lines.append(f"            [[ $word == -* ]] && words={_quoted(' '.join(options))} ;;")
    lines += [
        "    esac",
        '    _crabhook_reply compgen -W "$words" -- "$word"',
        "}",
        "complete -o bashdefault -o default -F _crabhook crabhook",
    ]
    return "\n".join(lines) + "\n"


def _zsh(header: str, places: list[Place]) -> str:
    values = {"file": "_files", "folder": "_files -/", "text": "_message value"}
    lines = [
        "#compdef crabhook",
        header,
        "_crabhook() {",
        "    local here='' word before=${words[CURRENT-1]}",
        "    local -a subcommands options",
        '    for word in "${(@)words[2,CURRENT-1]}"; do',
        '        case "$here $word" in',
        f'            ({_paths(places)}) here="$here $word" ;;',
        "        esac",
        "    done",
        '    case "$here $before" in',
    ]
    for cases, option in _valued(places):
        do = values.get(option.value, f"compadd -- {' '.join(map(_quoted, option.choices))}")
        lines.append(f"        ({cases}) {do}; return ;;")
    lines += ["    esac", '    case "$here" in']
    for place in places:
        words = [_quoted(f"{name}:{what}") for name, what in place.commands.items()]
        words += [_quoted(choice) for choice in place.choices]
        options = [
            _quoted(f"{name}:{option.what}") for option in place.options for name in option.names
        ]
        lines.append(f"        ({_quoted(place.path)})")
        lines.append(f"            subcommands=({' '.join(words)})")
        lines.append(f"            options=({' '.join(options)}) ;;")
    lines += [
        "    esac",
        "    if [[ ${words[CURRENT]} == -* ]]; then",
        "        _describe option options",
        "    elif (( $#subcommands )); then",
        "        _describe command subcommands",
        "    else",
        "        _files",
        "    fi",
        "}",
        "# Read by zsh's own completion it is the function's first call; sourced it is not.",
        '[[ ${funcstack[1]} == _crabhook ]] && _crabhook "$@" || compdef _crabhook crabhook',
    ]
    return "\n".join(lines) + "\n"


def _fish(header: str, places: list[Place]) -> str:
    known = " ".join(_fished(place.path) for place in places if place.path)
    lines = [
        header,
        "function __crabhook_at",
        "    set -l here ''",
        "    for word in (commandline -opc)[2..]",
        f'        contains -- "$here $word" {known}; and set here "$here $word"',
        "    end",
        '    test "$here" = "$argv[1]"',
        "end",
        "complete -c crabhook -e",
    ]
    for place in places:
        asked = _fished(f'__crabhook_at "{place.path}"')
        start = f"complete -c crabhook -n {asked}"
        for name, what in place.commands.items():
            lines.append(f"{start} -f -a {_fished(name)} -d {_fished(what)}")
        if place.choices:
            lines.append(f"{start} -f -a {_fished(_escaped(place.choices))}")
        lines += [f"{start} {_fish_option(option)}" for option in place.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    names = [f"-l {name[2:]}" if name[:2] == "--" else f"-s {name[1:]}" for name in option.names]
    value = {
        "": [],
        "file": ["-r", "-F"],
        "folder": ["-x", "-a", "'(__fish_complete_directories)'"],
        "text": ["-x"],
        "choice": ["-x", "-a", _fished(_escaped(option.choices))],
    }[option.value]
    return " ".join([*names, *value, "-d", _fished(option.what)])


_SCRIPTS: dict[str, Callable[[str, list[Place]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
