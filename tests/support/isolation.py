"""Run a program where it can reach nobody: loopback alone, no inherited environment.

The program also gets a process namespace of its own: when its first process ends, the kernel ends
every other one, so a hook that outlives its agent cannot outlive the test.
"""

from __future__ import annotations

import fcntl
import functools
import os
import socket
import struct
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1
"""The requests and the flag of netdevice(7)."""


def ending_with_us(command: list[str]) -> list[str]:
    """The command line whose process the kernel kills when the thread that started it ends."""
    return ["setpriv", "--pdeathsig", "KILL", "--", *command]


def isolated(command: list[str]) -> list[str]:
    """The command line that runs `command` isolated; it must call `raise_loopback` itself.

    It has a /proc of its own: the sandbox that Codex puts commands into waits forever without.
    """
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    apart = [
        "unshare",
        *as_root,
        "--net",
        "--pid",
        "--mount-proc",
        "--fork",
        "--kill-child",
        "--",
        *command,
    ]
    return ending_with_us(apart)


def of_no_rights(command: list[str]) -> list[str]:
    """The command line that runs `command` as a user who is not root; for one that is isolated."""
    return ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", *command]


def with_etc(folder: Path, command: list[str]) -> list[str]:
    """The command line that runs `command` with this folder for /etc; for one that is isolated."""
    return ["sh", "-c", 'mount --bind "$0" /etc && exec "$@"', str(folder), *command]


def raise_loopback() -> None:
    """Bring up the loopback interface of this network namespace; needs no `ip` program."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        asked = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(probe, SIOCGIFFLAGS, asked))
        fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


@functools.cache
def why_not() -> str | None:
    """Why programs cannot be isolated on this machine; None when they can."""
    try:
        tried = subprocess.run(
            isolated(["true"]), capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"setpriv and unshare, of util-linux, could not be run: {error}"
    return None if tried.returncode == 0 else f"unshare was refused: {tried.stderr.strip()}"
