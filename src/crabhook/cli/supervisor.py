"""The supervisor as an agent starts it, and a reviewer for its settings: no person calls them."""

import argparse
import shlex
import signal
import sys
from pathlib import Path

from crabhook.cli.commands import Command
from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import parse_object
from crabhook.supervisor.claude import INSTRUCTIONS, verdict
from crabhook.supervisor.contract import ReviewerError
from crabhook.supervisor.running import Told, main

_DESK = {
    "--server": "where the operator is, as unix:PATH or HOST:PORT",
    "--token-file": "the file with the server's token",
    "--tls-ca": "the certificate to know the server by",
}


def _hook_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whose events they are, and where the settings and the operator are."""
    parser.add_argument(
        "--session-id",
        metavar="ID",
        default="",
        help="count the events as this session's (default: $CRABHOOK_SUPERVISOR_ID, else the "
        "agent's own session); with no hook input to read, it wants to stop",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="say on standard error what was found (or set $CRABHOOK_DEBUG)",
    )
    parser.add_argument(
        "--settings", metavar="FILE", type=Path, help="settings other than your own"
    )
    for option, what in _DESK.items():
        parser.add_argument(option, metavar="WHERE" if option == "--server" else "FILE", help=what)


def _hook(arguments: argparse.Namespace) -> int:
    """Be the hook; an agent that ends it ends its reviewer with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    given = {option: getattr(arguments, option[2:].replace("-", "_")) for option in _DESK}
    desk_options = tuple(f"{option}={value}" for option, value in given.items() if value)
    return main(
        Told(arguments.session_id, arguments.settings, desk_options, verbose=arguments.verbose)
    )


supervisor_hook = Command(_hook_arguments, _hook)


def _review_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which program judges, and by what."""
    parser.add_argument(
        "--claude",
        metavar="PROGRAM",
        default="claude",
        help="Claude Code, with options of yours, as in 'claude --model haiku' "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--instructions",
        metavar="FILE",
        type=Path,
        help="judge by this text, and not by crabhook's own",
    )


def _review(arguments: argparse.Namespace) -> int:
    """Judge; return 0, or 1 with the reason on standard error."""
    try:
        review = parse_object(sys.stdin.buffer.read())
        instructions = (
            arguments.instructions.read_text(encoding="utf-8")
            if arguments.instructions
            else INSTRUCTIONS
        )
        print(verdict(review, shlex.split(arguments.claude), instructions))  # noqa: T201 - the verdict
    except (PayloadError, ReviewerError, OSError, ValueError) as error:
        sys.stderr.write(f"crabhook supervisor-review: {error}\n")
        return 1
    return 0


supervisor_review = Command(_review_arguments, _review)
