"""The server that runs on this machine: where it listens, and whether it is there."""

import os
import socket
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from crabhook import config
from crabhook.app.status import ServerStatus
from crabhook.hook.failover import listed
from crabhook.model.errors import CrabhookError
from crabhook.safe_open import read_own, write_own
from crabhook.server.address import (
    Address,
    UnixAddress,
    asked_address,
    default_address,
    parse_address,
)
from crabhook.server.unix_socket import claim_of, peer_of, read_status


class BackgroundError(CrabhookError):
    """The server could not be started, or not be ended."""


def socket_of(server: str | None) -> UnixAddress:
    """Return where the server listens; raises BackgroundError for a place that is not safe.

    Where nobody listens at the usual place, a server that `up` started with another socket counts.
    """
    named = server or asked_address()
    if named == str(default_address()) and (elsewhere := _started_elsewhere()):
        return elsewhere
    for address in [parse_address(text) for text in listed(named)]:
        if isinstance(address, UnixAddress):
            _check(address.path.parent)
            return address
    raise BackgroundError(f"{named} is TCP: name the server's Unix socket, with --server unix:PATH")


_ELSEWHERE = "up.socket"
"""The file in the state folder that names the socket of a server that `up` started elsewhere."""


def _started_elsewhere() -> UnixAddress | None:
    """Return the socket that `up` was given in place of the usual socket, while somebody listens.

    The file leads people to a server, and proves nothing: the socket's folder is looked at as ever.
    """
    try:
        text = read_own(config.state_folder() / _ELSEWHERE, 4096).decode()
        address = parse_address(text.strip())
        if not isinstance(address, UnixAddress) or running_at(default_address().path) is not None:
            return None
        _check(address.path.parent)
        return None if running_at(address.path) is None else address
    except (OSError, UnicodeDecodeError, CrabhookError):
        return None


def note_socket(address: UnixAddress) -> str:
    """Note where the server listens, for `status`, `desk` and `down`; return what to know of it."""
    note = config.state_folder() / _ELSEWHERE
    if address == default_address():
        note.unlink(missing_ok=True)
        return ""
    with suppress(OSError):  # then --server finds it
        write_own(note, f"{address}\n".encode())
    return f"\nhooks of agents reach it with: --server {address}"


def takes_desks(status: Mapping[str, object]) -> bool:
    """Whether desks can attach to the server that wrote this; yes where it does not tell."""
    listening = status.get("listening")
    return not isinstance(listening, list) or any(" for desks" in str(at) for at in listening)


DESKS_AFTER = "`crabhook down`, then give `crabhook up` in a terminal"
"""What makes a server that takes no desks take them: people have keys from then on."""


def without_desks(pid: int) -> str:
    """Return what to know of a running server that takes no desks."""
    return (
        f"crabhook runs already (process {pid}), and takes no desks but its own: decide there, or "
        f"end it with {DESKS_AFTER}"
    )


def _check(folder: Path) -> None:
    """Refuse a folder where another user could have replaced our socket."""
    try:
        status = folder.stat()
    except OSError:
        return  # then nobody listens there, which the next check reports
    if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o022:
        raise BackgroundError(
            f"{folder} is not a folder that this user alone can write to: "
            "the socket in it may be anybody's"
        )


def running_at(path: Path) -> int | None:
    """Return the process that listens on a socket; None if there is none.

    0 means invisible from here, as in a container. Raises BackgroundError where nobody accepts
    connections.
    """
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(0)
        try:
            sock.connect(str(path))
        except BlockingIOError:
            raise BackgroundError(f"who listens on {path} does not answer") from None
        except OSError:
            return None
        return peer_of(sock).pid


def holder_of(path: Path) -> int | None:
    """Return the server that holds the claim on a socket, whether it listens there or not.

    The file of the claim may be a dead server's, whose number another process has by now: the
    holder has that file open. None where there is no holder, or the system does not show it.
    """
    claim = claim_of(path)
    with suppress(OSError, ValueError):
        pid = int(read_own(claim, 64))
        if any(file.samefile(claim) for file in Path(f"/proc/{pid}/fd").iterdir()):
            return pid
    return None


def is_listened_at(address: Address) -> bool:
    """Whether a program of this machine accepts connections at an address, our own or another."""
    try:
        if isinstance(address, UnixAddress):
            return running_at(address.path) is not None
        socket.create_connection((address.host, address.port), 1).close()
    except BackgroundError:  # its queue is full
        return True
    except OSError:
        return False
    return True


def status_of(path: Path) -> Mapping[str, object]:
    """Return the output of `crabhook status --json`; the pid is the listener's, not a file's."""
    pid = running_at(path)
    defaults = asdict(ServerStatus(0, 0, 0, ()))
    del defaults["pid"]
    kept = read_status(path) if pid is not None else {}
    return {
        "running": pid is not None,
        "pid": pid,
        **{k: kept.get(k, v) for k, v in defaults.items()},
    }
