"""`crabhook away`: be away from the desk, said in another terminal with the passphrase."""

import argparse
import time

import grpc

from crabhook.cli.presence import PresenceError, add_server_argument, reporting, socket_of, tell
from crabhook.cli.unseen import ask
from crabhook.server.address import UnixAddress
from crabhook.ui.commands.words import LineError, read_duration
from crabhook.ui.plain.output import clock
from crabhook.v1 import desk_pb2 as pb


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare for how long, and where the server is."""
    parser.add_argument(
        "--for",
        dest="seconds",
        metavar="TIME",
        type=_seconds,
        help="for how long: 90s, 5m, 2h, 1h30m (default: until `crabhook here`, or the desk's key)",
    )
    add_server_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Be away; return 0, or 1 with the reason on standard error and nothing changed."""
    return reporting("away", lambda: _away(arguments))


def _away(arguments: argparse.Namespace) -> str:
    address = socket_of(arguments.server)
    request = pb.SetPresenceRequest(presence=pb.PRESENCE_AWAY, seconds=arguments.seconds)
    _may_be_asked(address, request)
    request.passphrase = ask("Passphrase: ")
    said = tell(address, request)
    many = f"{said.released} waiting request{' was' if said.released == 1 else 's were'} let go"
    end = "until `crabhook here`"
    if said.HasField("seconds"):
        until = time.strftime("%H:%M", time.localtime(time.time() + said.seconds))
        end = f"until {until} ({clock(said.seconds)})"
    return f"You are away {end}: {many}, and what comes passes, with no opinion."


def _may_be_asked(address: UnixAddress, request: pb.SetPresenceRequest) -> None:
    """Hear from the server, before anybody types, whether anything but a passphrase is missing."""
    try:
        tell(address, request)
    except PresenceError as error:
        if error.code is not grpc.StatusCode.UNAUTHENTICATED:
            raise


def _seconds(text: str) -> int:
    try:
        return int(read_duration(text, "crabhook away --for 2h"))
    except LineError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
