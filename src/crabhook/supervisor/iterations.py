"""How many events of each session have come to the supervisor, kept on disk.

One file a session, and one byte in it for each event: a file that only ever
grows by a byte cannot be half written.  It is named by a hash, since a
session's id is whatever an agent sent.  All of it happens under one lock, so
that two hooks at once are two iterations.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import sleep

from crabhook.supervisor.contract import Deadline, ReviewerError

SESSIONS_KEPT = 1000  # the sessions not heard of longest go first
_PAUSE = 0.02  # seconds between two tries to have the lock
_SUFFIX = ".count"
_SAFELY = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Iterations:
    """The counts in a folder, which is made when it is needed."""

    def __init__(self, folder: Path, kept: int = SESSIONS_KEPT) -> None:
        self._folder = folder
        self._kept = kept

    def __repr__(self) -> str:
        return f"<Iterations in {self._folder}>"

    def count(self, session: str, deadline: Deadline) -> int:
        """Count one event of a session; return which it is, from 1.

        Raises ReviewerError where it cannot be counted, since what is not
        counted has no end, and OutOfTimeError.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked(deadline):
                return self._add(self.file_of(session))
        except OSError as error:
            why = error.strerror or error
            raise ReviewerError(
                f"its events cannot be counted in {self._folder}: {why}; make that folder writable"
            ) from error

    def file_of(self, session: str) -> Path:
        """Return the file that counts a session's events, whether it exists or not."""
        name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{name}{_SUFFIX}"

    def _add(self, file: Path) -> int:
        if not file.exists():
            self._make_room()
        opened = os.open(file, _SAFELY | os.O_WRONLY | os.O_APPEND, 0o600)
        try:
            os.write(opened, b".")
            return os.fstat(opened).st_size
        finally:
            os.close(opened)

    def _make_room(self) -> None:
        """Forget the sessions not heard of longest, so that one more has a place."""
        known = sorted(self._folder.glob(f"*{_SUFFIX}"), key=lambda one: one.lstat().st_mtime_ns)
        for file in known[: max(0, len(known) - self._kept + 1)]:
            file.unlink()

    @contextmanager
    def _locked(self, deadline: Deadline) -> Iterator[None]:
        """Hold the folder's lock; the system lets go of it with the process at the latest."""
        lock = os.open(self._folder / "lock", _SAFELY | os.O_RDWR, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    sleep(min(_PAUSE, deadline.left()))
            yield
        finally:
            os.close(lock)
