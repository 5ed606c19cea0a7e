"""Who is at the other end of the bridge's socket, as the kernel says."""

import os
import pwd
import socket
import struct
from dataclasses import dataclass

from crabhook.model.request import Origin

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid: SO_PEERCRED of unix(7)
_ROOT = 0


@dataclass(frozen=True, slots=True)
class Peer:
    """The process that connected, and its user."""

    pid: int
    uid: int

    @property
    def is_ours(self) -> bool:
        """Whether it may ask here: our own user may, and root, who may do anything anyway."""
        return self.uid in (os.getuid(), _ROOT)

    @property
    def origin(self) -> Origin:
        """Who asks, for the operator to see."""
        try:
            user = pwd.getpwuid(self.uid).pw_name
        except KeyError:
            user = str(self.uid)
        return Origin(socket.gethostname(), self.pid, user)


def peer_of(line: socket.socket) -> Peer:
    """Return who connected.

    Where the kernel does not tell, it is taken for our own user: the socket's
    mode, 0600, let nobody else in.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        return Peer(0, os.getuid())
    said = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(said)
    return Peer(pid, uid)
