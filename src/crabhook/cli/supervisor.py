"""The supervisor as an agent starts it, and a reviewer for its settings: no person calls them."""

import argparse
import shlex
import signal
import sys

from crabhook.cli.commands import Subcommand, declaring
from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import parse_object
from crabhook.supervisor.contract import ReviewerError
from crabhook.supervisor.reviewers import INSTRUCTIONS, verdict
from crabhook.supervisor.running import Arguments, main

_DESK = ("--server", "--token-file", "--tls-ca")  # say where the operator is


def _hook(arguments: argparse.Namespace) -> int:
    """Be the hook; its end also ends the reviewer."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    desk_values = {option: getattr(arguments, option[2:].replace("-", "_")) for option in _DESK}
    desk_options = tuple(f"{option}={value}" for option, value in desk_values.items() if value)
    return main(
        Arguments(arguments.session_id, arguments.settings, desk_options, verbose=arguments.verbose)
    )


supervisor_hook = Subcommand(declaring("supervisor-hook"), _hook)


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


supervisor_review = Subcommand(declaring("supervisor-review"), _review)
