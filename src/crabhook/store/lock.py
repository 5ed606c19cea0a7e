"""One process writes a record: a lock that goes when its holder goes, however it does."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from crabhook.store.errors import ReadOnlyError, TakenError


class WriterLock:
    """The right to write the record beside which `path` lies; held until released."""

    def __init__(self, path: Path) -> None:
        self._descriptor = _opened(path)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise TakenError(
                f"another crabhook (process {holder or 'unknown'}) writes the record in "
                f"{path.parent}; stop it, or give this one a state folder of its own "
                "(XDG_STATE_HOME)"
            ) from None
        with suppress(OSError):  # on a full disk the holder stays unnamed
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let the next one in.  The file stays: removing it would let two in."""
        os.close(self._descriptor)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise ReadOnlyError(f"the record's lock {path} cannot be made: {error.strerror}") from error
