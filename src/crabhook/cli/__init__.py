"""The subcommands: each imported only when its name is called.

`cli/NAME.py` (hyphens are underlines) has `add_arguments(parser)` and `run(arguments) -> int`;
small commands share a file, with a `Subcommand` each. `commands.toml` has help and file, `options/`
the arguments. This floor parses and prints; `app` below it composes what runs.
"""

import argparse
import gc
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence

from crabhook import __version__
from crabhook.cli.commands import (
    ACTIONS,
    COMMANDS,
    HOOK_OPTIONS,
    OUT_OF_SIGHT,
    Parser,
    Subcommand,
    command_of,
    explained,
    meant,
    subcommands,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command named by the first argument, `desk` without any; return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv) or ["desk"]
    if arguments[0] == "help" and arguments[1:2] != ["all"]:
        arguments = [*arguments[1:2], "--help"]
    name = arguments[0]
    if text := _TEXTS.get("help all" if arguments[:2] == ["help", "all"] else name):
        sys.stdout.write(text)
        return 0
    if name not in COMMANDS:
        Parser("crabhook", usage=_USAGE).error(
            f"there is no command {name!r}{meant(name, COMMANDS) or ', see crabhook --help'}"
        )
    try:
        parser, command = _loaded(name)
        namespace = argparse.Namespace(argv=arguments[1:])
        code = command.run(parser.parse_args(arguments[1:], namespace))
        if sys.stdout:
            sys.stdout.flush()  # here, where a missing reader can still be reported
    except BrokenPipeError:  # the reader needs no more; the end of the process is quiet too
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except ModuleNotFoundError as error:
        if (words := explained(name, error)) is None:
            raise
        sys.stderr.write(words)
        return 2
    return code


def _loaded(name: str) -> tuple[Parser, Subcommand]:
    """Return what `parser_of` returns, without looking for garbage: what modules make stays."""
    gc.disable()  # a tenth of a server's start
    try:
        return parser_of(name)
    finally:
        gc.enable()


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Wraps what a command is for at words, and leaves the example's lines as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        wraps = argparse.HelpFormatter if "\n" not in text else argparse.RawDescriptionHelpFormatter
        return wraps._fill_text(self, text, width, indent)  # noqa: SLF001 - argparse's own way


def parser_of(name: str) -> tuple[Parser, Subcommand]:
    """Return the parser of a command's arguments, and the command."""
    about = COMMANDS[name]
    command = command_of(name)
    parser = Parser(
        prog=f"crabhook {name}",
        description=about.what,
        epilog=_epilog(about.example, about.page),
        formatter_class=_HelpFormatter,
    )
    command.add_arguments(parser)
    for action, child in subcommands(parser).items():
        child.epilog = _epilog(ACTIONS[f"{name} {action}"], about.page)
        child.formatter_class = _HelpFormatter
    return parser, command


def _epilog(example: str, page: str) -> str:
    return f"example:\n  {example}\n\npage: docs/{page}"


WIDE = 80


def _row(head: str, what: str) -> str:
    """Return a row of a help, whose words go on below themselves where it is too long."""
    return textwrap.fill(
        what, WIDE, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    )


def _rows(names: Sequence[str]) -> str:
    """Return commands as the help lists them, the heading of a group before its first."""
    broad, rows, above = max(map(len, names)) + 2, [], ""
    for name in names:
        what, group = COMMANDS[name].what, COMMANDS[name].group
        rows.append(_row(f"{'' if group == above else group:<12}{name:<{broad}}", what))
        above = group
    return "\n".join(rows)


def _hook_options() -> str:
    return "\n".join(
        _row(f"  {option:<26}", what + (f", or {variable}" if variable else ""))
        for option, (variable, what) in HOOK_OPTIONS.items()
    )


_USAGE = "crabhook [COMMAND] [options]"
_HEAD = f"usage: {_USAGE}    alone: open the desk, where you decide"

HELP = f"""{_HEAD}

{_rows([name for name, about in COMMANDS.items() if about.group != OUT_OF_SIGHT])}

`crabhook COMMAND --help` shows an example, `crabhook help all` every command
"""
ALL = f"""{_HEAD}

{_rows([*COMMANDS])}

Where a coding agent starts it, crabhook is the hook. It reads its input, asks
the server, and prints the answer. `crabhook install` writes the hook's options:
{_hook_options()}

`crabhook --version` prints the version
New here? docs/tutorial/first-morning.md. Every page: docs/README.md.
"""
_TEXTS: Mapping[str, str] = {
    **dict.fromkeys(("-h", "--help"), HELP),
    "help all": ALL,
    "--version": f"crabhook {__version__}\n",
}
