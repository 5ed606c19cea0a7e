"""A Unix socket that belongs to one server: private, taken over from a dead one, never from a live.

The lock beside the socket is what tells a live server from a dead one: the
kernel lets go of it when its holder dies, however it dies.  gRPC itself would
replace any socket it finds.
"""

import fcntl
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

from crabhook.model.errors import CrabhookError


class SocketTakenError(CrabhookError):
    """Another server lives there, or the place is not ours alone."""


class SocketFile:
    """The claim on a socket's path, to be held while the server lives."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = -1

    def __enter__(self) -> Self:
        """Claim the path: raises SocketTakenError and leaves everything as it was."""
        _private_folder(self.path.parent)
        self._lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._lock, 32, 0).decode("ascii", "replace").strip()
            self._release()
            who = f"process {holder}" if holder else "another process"
            raise SocketTakenError(
                f"a crabhook server ({who}) already listens on {self.path}: "
                "use its terminal, or end it, or give this one another --listen address"
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)
        self._remove_stale()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.path.unlink(missing_ok=True)
        self._lock_path.unlink(missing_ok=True)
        self._release()

    @property
    def _lock_path(self) -> Path:
        return self.path.with_name(self.path.name + ".lock")

    def _remove_stale(self) -> None:
        try:
            mode = self.path.lstat().st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(mode):
            self._release()
            raise SocketTakenError(f"{self.path} is not a socket: give another --listen address")
        self.path.unlink()

    def _release(self) -> None:
        os.close(self._lock)
        self._lock = -1


def _private_folder(folder: Path) -> None:
    """Make the folder if need be, and see that nobody else can change what is in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.getuid():
        raise SocketTakenError(f"{folder} belongs to another user: give another --listen address")
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise SocketTakenError(
            f"others may write in {folder} (mode {stat.S_IMODE(found.st_mode):o}) and could put "
            f"another socket in this one's place, so run: chmod 700 {folder}"
        )
