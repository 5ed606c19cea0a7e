"""A disk of a megabyte or two that a test can fill: a tmpfs that one family of processes sees.

It is mounted in namespaces of its own, so no privilege is needed and the machine's own mounts stay
as they are. `inside` runs a program where the disk is; the test itself reaches it
through /proc. Where the system forbids such namespaces there is no small disk, and no test of it:
SmallDisk then raises, since a test that is skipped would hide that.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from tests.support.isolation import ending_with_us

_BALLAST = "ballast"
_HOLD = 'mount -t tmpfs -o size="$1",mode=700 none "$2" && echo held && exec cat'


class SmallDisk:
    """A tmpfs of so many kilobytes, for as long as the block lasts."""

    def __init__(self, kilobytes: int) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="crabhook-disk-", dir="/tmp"))
        self._spaces = ["--mount"] if os.geteuid() == 0 else ["--user", "--mount"]
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        hold = ["sh", "-c", _HOLD, "sh", f"{kilobytes}k", str(self.place)]
        self._holder = subprocess.Popen(
            ending_with_us(["unshare", *self._spaces, *as_root, "--", *hold]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "held\n":
            _, why = self._holder.communicate()
            self.place.rmdir()
            raise AssertionError(f"no small disk can be made here: {why.strip()}")
        return self

    def __exit__(self, *_: object) -> None:
        self._holder.communicate()
        self.place.rmdir()

    @property
    def inside(self) -> list[str]:
        """The command that runs another where the disk is."""
        target = f"--target={self._holder.pid}"
        return ["nsenter", "--preserve-credentials", *self._spaces, target, "--"]

    @property
    def seen(self) -> Path:
        """The disk as the test sees it."""
        return Path(f"/proc/{self._holder.pid}/root{self.place}")

    def copied(self, folder: Path) -> Path:
        """Copy a folder of the disk to one that all can see; return that."""
        return Path(shutil.copytree(self.seen / folder.name, folder, dirs_exist_ok=True))

    def fill(self) -> None:
        """Leave no room at all."""
        fill(self.seen)

    def free(self) -> None:
        """Give the room back."""
        free(self.seen)


def fill(folder: Path) -> None:
    """Leave no room at all on the disk of a folder, which is a small one."""
    with (folder / _BALLAST).open("ab", buffering=0) as file:
        size = 1 << 16
        while size:
            try:
                file.write(b"\0" * size)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                size //= 2


def free(folder: Path) -> None:
    """Give the room back."""
    (folder / _BALLAST).unlink()
