"""A Unix socket that belongs to one server: private, taken over from a dead one, never from a live.

The lock beside the socket is what tells a live server from a dead one: the
kernel lets go of it when its holder dies, however it dies.  gRPC itself would
replace any socket it finds.
"""

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from crabhook.model.errors import CrabhookError
from crabhook.ownfile import read_own


class SocketTakenError(CrabhookError):
    """Another server lives there, or the place is not ours alone."""


class SocketFile:
    """The claim on a socket's path, to be held while the server lives."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = -1

    def __enter__(self) -> Self:
        """Claim the path: raises SocketTakenError and leaves everything as it was."""
        try:
            _private_folder(self.path.parent)
            _nothing_but_a_socket(self.path)
            self._lock = _locked(self._lock_path)
        except BlockingIOError:
            raise self._taken() from None
        except OSError as error:
            raise SocketTakenError(f"cannot listen on {self.path}: {error}") from error
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)
        self.path.unlink(missing_ok=True)  # a dead server's
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.path.unlink(missing_ok=True)
        self._lock_path.unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = -1

    @property
    def _lock_path(self) -> Path:
        return self.path.with_name(self.path.name + ".lock")

    def _taken(self) -> SocketTakenError:
        holder = ""
        with suppress(OSError):
            holder = read_own(self._lock_path, 64).decode("ascii", "replace").strip()
        who = f"process {holder}" if holder else "another process"
        return SocketTakenError(
            f"a crabhook server ({who}) already listens on {self.path}: "
            "use its terminal, or end it, or give this one another --listen address"
        )


def _private_folder(folder: Path) -> None:
    """Make the folder if need be, and see that nobody else can change what is in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_mode & stat.S_ISVTX or found.st_uid != os.getuid():
        raise SocketTakenError(
            f"{folder} is shared, or another user's: give a --listen address in a folder of its own"
        )
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise SocketTakenError(
            f"others may write in {folder} (mode {stat.S_IMODE(found.st_mode):o}) and could put "
            f"another socket in this one's place, so run: chmod 700 {folder}"
        )


def _nothing_but_a_socket(path: Path) -> None:
    """Refuse a path where somebody keeps another kind of file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise SocketTakenError(f"{path} is not a socket: give another --listen address")


def _locked(path: Path) -> int:
    """Return a lock on the very file others will find at `path`.

    Raises BlockingIOError where another process holds it.
    """
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        except FileNotFoundError:
            pass  # its last holder removed it between our two looks
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
