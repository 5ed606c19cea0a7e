"""The subcommands: each imported only when its name is called.

`cli/NAME.py` (hyphens are underlines) has `add_arguments(parser)` and `run(arguments) -> int`;
small commands share a file, with a `Subcommand` each. `commands.toml` has help and file, `options/`
the arguments. This floor parses and prints; `app` below it composes what runs.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from crabhook import __version__
from crabhook.cli.commands import (
    ACTIONS,
    COMMANDS,
    HOOK_OPTIONS,
    Parser,
    Subcommand,
    command_of,
    explained,
    meant,
    subcommands,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand named by the first argument; return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    name = arguments[0] if arguments else "--help"
    if name not in COMMANDS:
        return _no_command(name)
    try:
        parser, command = parser_of(name)
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


def _no_command(name: str) -> int:
    """Show the help or version; or report an unknown command, and end with 2."""
    parser = Parser(
        prog="crabhook",
        description=HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="crabhook [hook options]  |  crabhook COMMAND [options]",
    )
    parser.add_argument("--version", action="version", version=f"crabhook {__version__}")
    parser.parse_args([name] if name.startswith("-") else [])
    near = meant(name, COMMANDS)
    parser.error(f"there is no command {name!r}{near or '; the commands: ' + ', '.join(COMMANDS)}")


def _epilog(example: str, page: str) -> str:
    return f"example:\n  {example}\n\npage: docs/{page}"


def _hook_options() -> str:
    rows = []
    for option, (variable, what) in HOOK_OPTIONS.items():
        rows.append(f"  {option:<26}{what}" + (f"; or {variable}" if variable else ""))
    return "\n".join(rows)


HELP = f"""crabhook takes coding agents' questions to one operator.

With no command it is the hook itself: a coding agent starts it, it reads the
hook's input from standard input, asks the operator's server, and prints the
answer.  People use the commands; `crabhook COMMAND --help` has an example:

{"".join(f"  {name:<19}{about.what}{chr(10)}" for name, about in COMMANDS.items())}
hook options, which `crabhook install` writes for you:
{_hook_options()}

new here?  docs/tutorial/first-morning.md; every page: docs/README.md
"""
