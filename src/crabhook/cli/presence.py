"""`crabhook away`, `here` and `passphrase`: the operator's presence, said in another terminal.

Being here needs nothing, since anybody may close gates; being away needs the passphrase.
"""

import argparse
import os
import stat
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import grpc

from crabhook import config
from crabhook.cli.commands import Command, declare, options_of
from crabhook.cli.terminal import ask, say
from crabhook.model.errors import CrabhookError
from crabhook.server.address import Address, UnixAddress, default_address, parse_address
from crabhook.server.grpc.presence import NAME, Passphrase, PassphraseError, keep, load, remove
from crabhook.ui.commands.words import LineError, read_duration
from crabhook.ui.text.clock import countdown
from crabhook.ui.text.safe import safe
from crabhook.v1 import desk_pb2 as pb
from crabhook.v1.desk_pb2_grpc import DeskServiceStub

ANSWER_WITHIN = 10.0  # seconds
_SERVER = "CRABHOOK_SERVER"  # the hook's own variable


class PresenceError(CrabhookError):
    """The server was not told, or did not do it; `code` is its answer, where it gave one."""

    def __init__(self, words: str, code: grpc.StatusCode | None = None) -> None:
        super().__init__(words)
        self.code = code


def reporting(
    command: str, act: Callable[[argparse.Namespace], str], arguments: argparse.Namespace
) -> int:
    """Print what `act` says it has done and return 0; or 1, with the reason on standard error."""
    try:
        for line in act(arguments).split("\n"):
            say(line)
    except CrabhookError as error:
        sys.stderr.write(f"crabhook {command}: {safe(str(error))}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130
    return 0


def socket_of(server: str | None) -> UnixAddress:
    """Return where the server is to be told; raises PresenceError for a place that is not safe."""
    named = server or os.environ.get(_SERVER)
    address: Address = parse_address(named) if named else default_address()
    if not isinstance(address, UnixAddress):
        raise PresenceError(
            f"{address} is TCP: being here or away is said on the server's Unix socket alone; "
            "name it with --server unix:PATH, on the machine where the server runs"
        )
    _check(address.path.parent)
    return address


def _check(folder: Path) -> None:
    """Refuse a folder where another user could have put a socket of theirs, to be told secrets."""
    try:
        found = folder.stat()
    except OSError:
        return  # then nobody listens there, which is said next
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o022:
        raise PresenceError(
            f"{folder} is not a folder that this user alone can write to: "
            "the socket in it may be anybody's"
        )


def tell(address: UnixAddress, request: pb.SetPresenceRequest) -> pb.SetPresenceResponse:
    """Tell the server; raises PresenceError with what went wrong and what to do."""
    with grpc.insecure_channel(f"unix:{quote(os.fsencode(address.path))}") as channel:
        stub: Any = DeskServiceStub(channel)
        try:
            response = stub.SetPresence(request, timeout=ANSWER_WITHIN)
        except grpc.RpcError as error:
            raise _understood(error, address) from None
    assert isinstance(response, pb.SetPresenceResponse)  # noqa: S101 - the stub is untyped
    return response


def _understood(error: grpc.RpcError, address: UnixAddress) -> PresenceError:
    assert isinstance(error, grpc.Call)  # noqa: S101 - as every failed call is
    code, said = error.code(), error.details()
    return PresenceError(_WORDS.get(code, "{said}").format(address=address, said=said), code)


_WORDS = {
    grpc.StatusCode.UNAVAILABLE: "no server listens on {address}: start one with `crabhook serve`, "
    "or say with --server where it is",
    grpc.StatusCode.UNIMPLEMENTED: "the server on {address} has no desk that could be "
    "left: it is headless, or older than this command",
    grpc.StatusCode.DEADLINE_EXCEEDED: "the server on {address} did not answer in time: "
    "its desk shows what stands",
}


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
        end = f"until {until} ({countdown(said.seconds)})"
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


away = Command(
    partial(declare, {**options_of("away"), **options_of("here")}, {"seconds": _seconds}),
    partial(reporting, "away", _away),
)


def _here(arguments: argparse.Namespace) -> str:
    said = tell(socket_of(arguments.server), pb.SetPresenceRequest(presence=pb.PRESENCE_HERE))
    if said.changed:
        return "You are here: requests wait for you again."
    return "You were not away: nothing was changed."


here = Command(partial(declare, options_of("here"), {}), partial(reporting, "here", _here))


_NEXT_START = (
    "It counts from the server's next start: one that runs goes on with what it read at its own."
)


def _passphrase(arguments: argparse.Namespace) -> str:
    path = config.state_folder() / NAME
    old = load(path)
    if old is not None and not old.matches(ask("Old passphrase: ")):
        raise PassphraseError("that is not the passphrase; nothing was changed")
    if arguments.remove:
        if old is None:
            return "There is no passphrase; nothing was changed."
        remove(path)
        return f"The passphrase is removed.  {_NEXT_START}"
    new = ask("New passphrase: ")
    kept = Passphrase.of(new)
    if ask("The same again: ") != new:
        raise PassphraseError("the two differ; nothing was changed")
    keep(path, kept)
    return f"The passphrase is {'changed' if old else 'set'}.  {_NEXT_START}"


passphrase = Command(
    partial(declare, options_of("passphrase"), {}), partial(reporting, "passphrase", _passphrase)
)
