"""Files that an agent names, opened only where they are what they should be.

The agent's word is not taken for it: a regular file of our own user, found
without a link at its end.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def open_own(path: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open a file of ours for reading; give it with its size in bytes.

    Raises OSError for anything else, and ValueError for a name that no file can have.
    """
    if not Path(path).is_absolute() or not _is_ours(os.lstat(path)):
        raise OSError("it is no file of ours")
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(opened, "rb") as file:
        about = os.fstat(opened)
        if not _is_ours(about):
            raise OSError("it is no file of ours")
        yield file, about.st_size


def _is_ours(about: os.stat_result) -> bool:
    return stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()
