"""The only way to open and write files that an agent or a repository can name or replace.

Such a file may be a pipe, a device, a link, another user's, or gigabytes long. So it is checked
before and after opening, opening never waits, and reading is bounded. Code with an event loop calls
these functions in a thread.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_ROOT = 0
_SAFELY = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NotOursError(OSError):
    """The file is not what it should be: its `strerror` says in what."""

    def __init__(self, why: str) -> None:
        super().__init__(0, why)


@contextmanager
def open_own(
    path: str | os.PathLike[str], *, links: bool = False, anybodys: bool = False
) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open a regular file of our own user for reading; give it with its status.

    `links`: it may be a link of our user's or root's, as dotfiles are, also to a file of root's,
    who keeps a machine's settings. `anybodys`: any links and owners. Raises OSError, also as
    NotOursError.
    """
    try:
        if not (Path(path).is_absolute() or links or anybodys):
            raise NotOursError("its path is not absolute")
        owners = {os.geteuid(), _ROOT} if links else {os.geteuid()}
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode) and (links or anybodys):
            if not (anybodys or status.st_uid in owners):
                raise NotOursError("the link is another user's")
            status = os.stat(path)  # noqa: PTH116 - as lstat is, for a path of any kind
        _check(status, None if anybodys else owners)
        follow = 0 if links or anybodys else os.O_NOFOLLOW
        descriptor = os.open(path, _SAFELY | follow)
    except ValueError as error:  # no file can have such a name
        raise NotOursError(str(error)) from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _check(status, None if anybodys else owners)  # what was looked at may have been replaced
        yield file, status


def read_own(
    path: str | os.PathLike[str], at_most: int, *, links: bool = False, anybodys: bool = False
) -> bytes:
    """Return the content of our file; see `open_own`. Raises OSError, also for a larger file."""
    with open_own(path, links=links, anybodys=anybodys) as (file, status):
        content = b"" if status.st_size > at_most else file.read(at_most + 1)
    if max(status.st_size, len(content)) > at_most:
        raise NotOursError(f"it is larger than {at_most // 1024} KiB")
    return content


def write_own(path: Path, content: bytes, *, new: bool = False) -> None:
    """Write our file whole or not at all, private.

    `new`: an existing file stays. Raises OSError, then as FileExistsError.
    """
    from tempfile import NamedTemporaryFile  # slow, and most that read never write

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        made = Path(file.name)
        try:  # mode 0600 from the beginning: tempfile's own promise
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if new:
                os.link(made, path)  # a link replaces nothing, unlike a rename
                made.unlink()
            else:
                made.replace(path)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
    with suppress(OSError):  # it is written; else a power failure may take the name back
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _check(status: os.stat_result, owners: set[int] | None) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise NotOursError("it is a link")
    if not stat.S_ISREG(status.st_mode):
        raise NotOursError("it is not a regular file")
    if owners is not None and status.st_uid not in owners:
        raise NotOursError("it is another user's")
