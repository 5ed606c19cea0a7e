"""A server's own Unix socket: its claim, its peers, and whether it is still ours.

The lock beside the socket tells a live server from a dead server: the kernel releases it when its
holder dies, however it dies. gRPC itself would replace any socket.

Another file beside it has the server's state, for `crabhook status`. The folder is our user's
alone, but agents run as our user as well. So that file proves nothing: its content is shown to
people, and decides nothing.
"""

import asyncio
import fcntl
import json
import os
import pwd
import socket
import stat
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from crabhook.datatypes import frozen
from crabhook.model.card import Origin
from crabhook.model.errors import CrabhookError
from crabhook.safe_open import read_own, write_own

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid: SO_PEERCRED of unix(7)
_ROOT = 0


@frozen
class Peer:
    """The process that connected, and its user."""

    pid: int
    uid: int

    @property
    def is_ours(self) -> bool:
        """Whether the process may ask here: our own user's and root's may."""
        return self.uid in (os.getuid(), _ROOT)

    @property
    def origin(self) -> Origin:
        """The asking process, for the operator to see."""
        try:
            user = pwd.getpwuid(self.uid).pw_name
        except KeyError:
            user = str(self.uid)
        return Origin(socket.gethostname(), self.pid, user)


def peer_of(sock: socket.socket) -> Peer:
    """Return the connected process."""
    if not hasattr(socket, "SO_PEERCRED"):
        return Peer(0, os.getuid())  # the socket's mode, 0600, admits our own user only
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(credentials)
    return Peer(pid, uid)


class SocketTakenError(CrabhookError):
    """Another server uses the path, or other users can change it."""


def claim_of(path: Path) -> Path:
    """Return the file that the server on a socket's path holds locked, with its number in it."""
    return path.with_name(path.name + ".lock")


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Hold the claim on a socket's path; raises SocketTakenError, and then changes nothing."""
    lock_path = claim_of(path)
    try:
        _private_folder(path.parent)
        _nothing_but_a_socket(path)
        lock = _locked(lock_path)
    except BlockingIOError:
        raise _taken(path, lock_path) from None
    except OSError as error:
        raise SocketTakenError(f"cannot listen on {path}: {error}") from error
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    path.unlink(missing_ok=True)  # a dead server's
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        lock_path.unlink(missing_ok=True)
        os.close(lock)


@contextmanager
def ours_alone() -> Iterator[None]:
    """Within the context no other user can ever connect to a Unix socket that is bound."""
    before = os.umask(0o177)
    try:
        yield
    finally:
        os.umask(before)


def _taken(path: Path, lock_path: Path) -> SocketTakenError:
    holder = ""
    with suppress(OSError):
        holder = read_own(lock_path, 64).decode("ascii", "replace").strip()
    who = f"process {holder}" if holder else "another process"
    return SocketTakenError(
        f"a crabhook server ({who}) already listens on {path}. "
        "Use its terminal (in the background: crabhook), or end it (crabhook down), "
        "or give this server another --listen address"
    )


def _private_folder(folder: Path) -> None:
    """Make the folder if need be, and check that no other user can change its content."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_mode & stat.S_ISVTX or status.st_uid != os.getuid():
        raise SocketTakenError(
            f"{folder} is shared, or another user's: give a --listen address in a folder of its own"
        )
    if stat.S_IMODE(status.st_mode) & 0o022:
        raise SocketTakenError(
            f"others may write in {folder} (mode {stat.S_IMODE(status.st_mode):o}) and could put "
            f"another socket in its place, so run: chmod 700 {folder}"
        )


def _nothing_but_a_socket(path: Path) -> None:
    """Refuse a path with another kind of file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise SocketTakenError(f"{path} is not a socket: give another --listen address")


def _locked(path: Path) -> int:
    """Return a lock on the very file that others will find at `path`.

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


LOOK_EVERY = 1.0  # seconds


class SocketWatch:
    """Watches the sockets at `paths`, and reports replaced sockets.

    Another program of the server's own user can replace our socket, and allow calls that no
    operator saw; only this watch notices that (SECURITY.md).
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._known = {path: identity(path) for path in paths}
        self._wrong: dict[Path, str] = {}
        self.paused: Callable[[], bool] = lambda: False

    @property
    def trouble(self) -> str:
        """The current fault of our sockets; empty without one."""
        return next(filter(None, self._wrong.values()), "")

    def look(self) -> list[str]:
        """Return news: a socket that was replaced or removed, or is ours again."""
        news = []
        for path, ours in self._known.items():
            wrong = _wrong(path, ours)
            if wrong != self._wrong.get(path, ""):
                self._wrong[path] = wrong
                news.append(wrong or f"{path} is this server's own socket again")
        return news

    def renew(self, path: Path) -> None:
        """Know a socket that this server has just bound again."""
        if path in self._known:
            self._known[path] = identity(path)

    async def keep(self, tell: Callable[[str], object]) -> None:
        """Look until cancelled, and report news."""
        while self._known:
            # A listener that has ended, and is opened anew, is an alarm of its own.
            for news in () if self.paused() else self.look():
                tell(news)
            await asyncio.sleep(LOOK_EVERY)


def _wrong(path: Path, ours: tuple[int, ...] | None) -> str:
    now_there = identity(path)
    if now_there == ours:
        return ""
    if now_there is None:
        return f"THE SOCKET {path} IS GONE: no hook can ask here. Start crabhook serve again"
    return (
        f"THE SOCKET {path} WAS REPLACED, or changed: hooks that start now may ask another "
        "program, which can allow anything. Stop your agents, find out who listens there (lsof), "
        "and start crabhook serve again"
    )


def identity(path: Path) -> tuple[int, ...] | None:
    """Return a file's identity: it includes the time of change, which no program can set."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_ctime_ns)


_LARGEST = 1 << 16  # bytes


def status_file(socket: Path) -> Path:
    """Return the path of the state file of the server on a socket."""
    return socket.with_name(f"{socket.name}.status")


def read_status(socket: Path) -> Mapping[str, object]:
    """Return the last state of the server on a socket; nothing where it is not readable."""
    with suppress(OSError, ValueError):
        status = json.loads(read_own(status_file(socket), _LARGEST))
        if isinstance(status, dict):
            return status
    return {}


def pages_in(status: Mapping[str, object]) -> Sequence[str]:
    """Return the addresses of a server's pages from its state; none where it shows no page."""
    pages = status.get("pages")
    return [*map(str, pages)] if isinstance(pages, list) else ()


class StatusFile:
    """The file with a server's state beside its socket; `status` returns the current state."""

    def __init__(self, socket: Path, status: Callable[[], Mapping[str, object]]) -> None:
        self._path, self._status = status_file(socket), status
        self._last: Mapping[str, object] = {}
        self._written: tuple[int, ...] | None = None  # the file's identity, while it is as written

    async def write(self) -> None:
        """Write the state, if it or the file changed since; where that fails, agents are served."""
        now = self._status()
        unchanged = self._written is not None and identity(self._path) == self._written
        if unchanged and now == self._last:
            return
        content, self._last, self._written = f"{json.dumps(now)}\n".encode(), now, None
        with suppress(OSError):
            await asyncio.to_thread(write_own, self._path, content)
            seen = identity(self._path)
            if read_own(self._path, len(content) + 1) == content:  # else it was changed since
                self._written = seen

    async def keep(self) -> None:
        """Write the state whenever it, or the file, changes; at the end, remove the file."""
        try:
            while True:
                await self.write()
                await asyncio.sleep(LOOK_EVERY)
        finally:
            self._path.unlink(missing_ok=True)
