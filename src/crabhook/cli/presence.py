"""Tells a running server from another terminal whether the operator is here or away."""

import argparse
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import grpc

from crabhook.model.errors import CrabhookError
from crabhook.server.address import Address, UnixAddress, default_address, parse_address
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


def add_server_argument(parser: argparse.ArgumentParser) -> None:
    """Declare where the server is: found as the hook finds it."""
    parser.add_argument(
        "--server",
        metavar="ADDRESS",
        help=f"the server's socket, as unix:PATH (default: ${_SERVER}, or where `serve` listens)",
    )


def reporting(command: str, act: Callable[[], str]) -> int:
    """Print what `act` says it has done and return 0; or 1, with the reason on standard error."""
    try:
        sys.stdout.write(f"{act()}\n")
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
