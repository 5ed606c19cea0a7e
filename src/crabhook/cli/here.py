"""`crabhook here`: be back at the desk, said in another terminal; anybody may close gates."""

import argparse

from crabhook.cli.presence import add_server_argument, reporting, socket_of, tell
from crabhook.v1 import desk_pb2 as pb


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where the server is."""
    add_server_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Be here; return 0, also where one was, or 1 with the reason on standard error."""
    return reporting("here", lambda: _here(arguments))


def _here(arguments: argparse.Namespace) -> str:
    said = tell(socket_of(arguments.server), pb.SetPresenceRequest(presence=pb.PRESENCE_HERE))
    if said.changed:
        return "You are here: requests wait for you again."
    return "You were not away: nothing was changed."
