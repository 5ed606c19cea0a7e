"""Listening sockets that a service manager opened for us: sd_listen_fds(3).

LISTEN_FDS says how many there are, from descriptor 3 on, and LISTEN_PID whom
they are for.
"""

import os
import socket
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path

from crabhook.model.errors import CrabhookError
from crabhook.server.address import Address, TcpAddress, UnixAddress

_FIRST = 3
_VARIABLES = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


class InheritedError(CrabhookError):
    """Something was handed down that we cannot listen on."""


def inherited(environment: MutableMapping[str, str]) -> Sequence[socket.socket]:
    """Return the sockets that were handed down, if any were, to us.

    The variables are taken out, and no program of ours inherits the sockets
    in its turn.  Raises InheritedError for what is no listening stream socket.
    """
    pid, count, _ = (environment.pop(name, "") for name in _VARIABLES)
    if pid != str(os.getpid()) or not count.isdecimal():
        return ()
    return tuple(map(_adopted, range(_FIRST, _FIRST + int(count))))


def _adopted(descriptor: int) -> socket.socket:
    what = f"the service manager's descriptor {descriptor}"
    try:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the standard library's
        found = socket.socket(fileno=descriptor)
    except OSError as error:
        raise InheritedError(f"{what} cannot be used: {error.strerror}") from error
    listens = False
    with suppress(OSError):
        listens = bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    families = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
    if not listens or found.type != socket.SOCK_STREAM or found.family not in families:
        found.detach()
        raise InheritedError(
            f"{what} is no listening stream socket: in the socket unit use ListenStream= "
            "with a path or HOST:PORT, and leave Accept= off"
        )
    return found


def address_of(listening: socket.socket) -> Address:
    """Return where clients find an inherited socket."""
    if listening.family == socket.AF_UNIX:
        name = listening.getsockname()
        path = f"@{os.fsdecode(name[1:])}" if isinstance(name, bytes) else name
        return UnixAddress(Path(path))
    host, port = listening.getsockname()[:2]
    return TcpAddress(host, port)
