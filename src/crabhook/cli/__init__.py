"""The subcommands: one file each, imported only when its name is called.

A file `cli/NAME.py` offers `add_arguments(parser)` and `run(arguments) -> int`;
its module docstring's first line is its help.  A name's hyphen is an underline
in its file's.  This floor is the composition root: it alone may import every
other one.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from crabhook import __version__

COMMANDS = {
    "serve": "open the operator's terminal and listen for requests",
    "install": "write crabhook's hooks into an agent's settings",
    "uninstall": "take crabhook's hooks out of an agent's settings again",
    "rules": "see, change, try and explain the rules that decide without you",
    "away": "be away, from another terminal: nothing waits for you meanwhile",
    "here": "be back, from another terminal: requests wait for you again",
    "passphrase": "set the passphrase that `crabhook away` asks for",
    "audit": "read the record of what was asked and decided, and prove it whole",
    "supervisor-hook": "be the hook that has a stop, or a question, reviewed before you are asked",
    "supervisor-review": "review with Claude Code itself: a reviewer for the settings",
    "doctor": "see whether all is in order, and what mends it",
    "lint": "find what hook scripts and configurations get wrong",
    "demo": "see it work: a scripted agent asks, you decide",
}


class Command(Protocol):
    """What a subcommand's module offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the subcommand's own arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; return the process's exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand named by the first argument; return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments else ""
    parser = argparse.ArgumentParser(
        prog="crabhook",
        description=__doc__ if name in COMMANDS else HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="crabhook [hook options]  |  crabhook COMMAND [options]",
        add_help=name not in COMMANDS,
    )
    if name not in COMMANDS:
        parser.add_argument("--version", action="version", version=f"crabhook {__version__}")
        if arguments in ([], ["help"]):
            parser.print_help()
            return 0
        parser.parse_args([a for a in arguments if a.startswith("-")][:1])
        parser.error(f"there is no command {name!r}; the commands are: {', '.join(COMMANDS)}")
    command = cast("Command", importlib.import_module(f"crabhook.cli.{name.replace('-', '_')}"))
    parser = argparse.ArgumentParser(prog=f"crabhook {name}", description=COMMANDS[name])
    command.add_arguments(parser)
    try:
        code = command.run(parser.parse_args(arguments[1:]))
        if sys.stdout:
            sys.stdout.flush()  # here, where it can still be told that nobody reads
    except BrokenPipeError:  # whoever read us has read enough; the end of the process is quiet, too
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return code


HELP = """crabhook takes coding agents' questions to one operator.

With no command it is the hook itself: a coding agent starts it, it reads the
hook's input from standard input, asks the operator's server, and prints the
answer.  People use the commands:

""" + "\n".join(f"  crabhook {name:<19}{what}" for name, what in COMMANDS.items())
