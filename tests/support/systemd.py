"""systemd's manager of one user's services, for the units that our pages give; gone with the block.

It runs in namespaces of its own (mounts, processes, control groups), with a runtime folder of its
own. What is started in it ends with it.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.support.isolation import ending_with_us
from tests.support.service import CRABHOOK

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
_MANAGER = Path("/lib/systemd/systemd")
_BEGIN = """
echo $$ > "$1/cgroup.procs" && exec unshare --mount --pid --cgroup --fork --kill-child --mount-proc sh -c '
  umount --recursive /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup &&
  mount -t tmpfs none /run && mkdir -p /run/systemd/system || exit 1
  "$0" --user --unit=basic.target & wait' "$0"
"""
"""systemd asks /run whether the machine was booted by it, and puts each service into a group."""


def units(page: str) -> list[str]:
    """Return the units that a page of docs/how-to gives, in their order."""
    blocks = re.findall(r"```ini\n(.*?)```", (PAGES / page).read_text("utf-8"), re.DOTALL)
    return [block for block in blocks if block.startswith("[Unit]")]


def why_not() -> str:
    """Why no manager can run here; empty where one can."""
    if not _MANAGER.exists():
        return "systemd is not installed"
    if os.geteuid() != 0:
        return "mounts and control groups take root"
    return "" if _groups() else "there is no second hierarchy of control groups"


def _groups() -> Path | None:
    for line in Path("/proc/self/mounts").read_text("utf-8").splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2" and "rw" in options.split(","):
            return Path(place)
    return None


class UserManager:
    """A user's systemd, whose home is `folder`: short enough for a socket's path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runtime = folder / "run"
        self.environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(self.runtime),
        }

    def __enter__(self) -> Self:
        place = _groups()
        assert place is not None
        self._group = place / f"crabhook-{os.getpid()}-{time.monotonic_ns()}"
        self._group.mkdir()
        self.runtime.mkdir(mode=0o700)
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                ending_with_us(["sh", "-c", _BEGIN, str(_MANAGER), str(self._group)]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment | {"SYSTEMD_LOG_TARGET": "console"},
            )
        try:
            self.wait_until(lambda: self.told("is-system-running") in {"running", "degraded"})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            (self._group / "cgroup.kill").write_text("1")
        self._process.kill()
        self._process.wait(60)
        self.wait_until(self._is_gone)

    def _is_gone(self) -> bool:
        for folder in [*sorted(self._group.rglob("*/"), reverse=True), self._group]:
            with suppress(OSError):
                folder.rmdir()
        return not self._group.exists()

    def install(self, name: str, text: str) -> None:
        """Keep a unit of the user's, or a part of one."""
        file = self.folder / ".config/systemd/user" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def ctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `systemctl --user` inside."""
        (first,) = self._children(self._process.pid)
        inside = ["nsenter", "--target", first, "--mount", "--pid", "--cgroup", "--"]
        return subprocess.run(
            [*inside, "systemctl", "--user", "--no-pager", *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=self.environment,
        )

    def do(self, *words: str) -> None:
        """Run `systemctl --user`, which has to succeed."""
        done = self.ctl(*words)
        assert done.returncode == 0, done.stderr + (self.folder / "log").read_text()

    def told(self, *words: str) -> str:
        """Return what `systemctl --user` prints in a line; empty before the manager runs."""
        try:
            return self.ctl(*words).stdout.strip()
        except ValueError:
            return ""

    def of(self, unit: str, name: str) -> str:
        """Return a property of a unit."""
        return self.told("show", unit, "--value", "--property", name)

    def all_of(self, unit: str, *names: str) -> dict[str, str]:
        """Return several properties of a unit, as they are at the same time."""
        shown = self.told("show", unit, "--property", ",".join(names)).splitlines()
        return dict(line.split("=", 1) for line in shown)

    def wait_until(self, true: Callable[[], object], seconds: float = 60) -> None:
        """Wait until something is true."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.05)

    @staticmethod
    def _children(process: int) -> list[str]:
        return Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split()


def with_program(folder: Path) -> None:
    """Put our program where `pipx install` would, below a home."""
    place = folder / ".local/bin/crabhook"
    place.parent.mkdir(parents=True)
    place.symlink_to(CRABHOOK)
