"""Have a stop, or a question, reviewed: the hook that an agent starts, not a person."""

import argparse
import signal
import sys
from pathlib import Path
from typing import NoReturn

from crabhook.supervisor.running import Told, main

_DESK = {
    "--server": "where the operator is, as unix:PATH or HOST:PORT",
    "--token-file": "the file with the server's token",
    "--tls-ca": "the certificate to know the server by",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(arguments: argparse.Namespace) -> int:
    """Be the hook; an agent that ends it ends its reviewer with it."""
    signal.signal(signal.SIGTERM, _end)
    given = {option: getattr(arguments, option[2:].replace("-", "_")) for option in _DESK}
    desk_options = tuple(f"{option}={value}" for option, value in given.items() if value)
    return main(
        Told(arguments.session_id, arguments.settings, desk_options, verbose=arguments.verbose)
    )


def _end(_signal: int, _frame: object) -> NoReturn:
    sys.exit(143)
