"""Machines with addresses of their own, on a network that only they are on: namespaces of the kernel.

No interface, no name and no process of this machine is touched; all of it goes with the processes
that hold it, and with them whatever was started there.
"""

from __future__ import annotations

import functools
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

from tests.support.isolation import ending_with_us
from tests.support.requirements import leave_out

if TYPE_CHECKING:
    from collections.abc import Sequence

_NET = "10.78.0"
_NOBODYS = "02:00:00:00:ff:ff"
_HELD = "echo apart && exec cat"


class Machines:
    """As many machines as are named, for as long as the block lasts; each knows all the names.

    `folder` is for the file of names. Addresses are 10.78.0.1 and on, in the order of the names.
    """

    def __init__(self, folder: Path, *names: str) -> None:
        self.address = {name: f"{_NET}.{place}" for place, name in enumerate(names, 1)}
        self._held = ExitStack()
        hosts = folder / "hosts"
        lines = [f"{at} {name}" for name, at in self.address.items()]
        hosts.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        try:
            self._switch = self._apart((), "--net", "sh", "-c", _HELD)
            switch = self._beside_switch()
            _run(*switch, *["ip", "link", "add", "switch", "type", "bridge"])
            _run(*switch, *["ip", "link", "set", "switch", "up"])
            self._first = {
                name: self._plugged_in(name, hosts, switch, place)
                for place, name in enumerate(names, 1)
            }
        except BaseException:
            self._held.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def at(self, name: str, *command: str) -> list[str]:
        """Return the command line that runs a command on a machine, where it would be run here."""
        target = f"--target={self._first[name]}"
        apart = ["nsenter", *_with_user(), target, "--net", "--mount", "--pid", "--"]
        return [*apart, "env", f"--chdir={Path.cwd()}", *command]

    def on_network_of(self, name: str, *command: str) -> list[str]:
        """Return the command line that runs a command here, but on the network of a machine.

        It is a process of ours that signals reach, and it sees our files; it knows no names.
        """
        net = f"--net=/proc/{self._first[name]}/ns/net"
        return ["nsenter", *_with_user(), net, "--", *command]

    def plug(self, name: str, *, in_: bool) -> None:
        """Put in a machine's plug at the switch, or pull it: then nothing passes either way."""
        port = f"port{list(self.address).index(name) + 1}"
        _run(*self._beside_switch(), *f"ip link set {port} {'up' if in_ else 'down'}".split())

    def mute(self, name: str, towards: str, *, muted: bool = True) -> None:
        """Lose what a machine sends to another, without a word; what comes the other way arrives.

        The machine has a hardware address for the other that nobody has.
        """
        at, there = self.address[towards], self.on_network_of(name, "ip", "neighbour")
        if muted:
            _run(*there, *f"replace {at} lladdr {_NOBODYS} dev wire nud permanent".split())
        else:
            _run(*there, *f"delete {at} dev wire".split())

    def _beside_switch(self) -> tuple[str, ...]:
        return ("nsenter", *_with_user(), f"--target={self._switch}", "--net", "--")

    def _plugged_in(self, name: str, hosts: Path, switch: Sequence[str], place: int) -> int:
        """Start a machine; return its first process."""
        at_home = f'mount --bind "{hosts}" /etc/hosts && {_HELD}'
        inside = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
        outer = self._apart(self._beside_switch(), "--net", *inside, "sh", "-c", at_home)
        (first,) = _children(outer)
        port = f"port{place}"
        wire = f"ip link add {port} type veth peer name wire netns {outer}"
        _run(*switch, *wire.split())
        _run(*switch, *f"ip link set {port} master switch up".split())
        there = ("nsenter", *_with_user(), f"--target={outer}", "--net", "--")
        _run(*there, *f"ip address add {self.address[name]}/24 dev wire".split())
        for device in ("lo", "wire"):
            _run(*there, *f"ip link set {device} up".split())
        return first

    def _apart(self, before: Sequence[str], *words: str) -> int:
        """Start what holds a namespace; return the process that is in it."""
        user = _as_root() if not before else ()
        process = subprocess.Popen(
            ending_with_us([*before, "unshare", *user, *words]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._held.callback(process.communicate, timeout=60)
        assert process.stdout is not None
        assert process.stdout.readline() == "apart\n", "no namespace can be made here"
        return process.pid


def _as_root() -> tuple[str, ...]:
    return () if os.geteuid() == 0 else ("--user", "--map-root-user")


def _with_user() -> tuple[str, ...]:
    return () if os.geteuid() == 0 else ("--user", "--preserve-credentials")


def _children(process: int) -> list[int]:
    told = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(one) for one in told.split()]


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=60)


def insist() -> None:
    """Skip the test where no such machines can be made; fail it where agents are required."""
    if (reason := _why_not()) is not None:
        leave_out(reason)


@functools.cache
def _why_not() -> str | None:
    """Why there can be no such machines here; None where they can."""
    try:
        with TemporaryDirectory() as folder, Machines(Path(folder), "one", "other") as tried:
            _run(*tried.at("one", "true"))
    except (OSError, AssertionError, subprocess.SubprocessError) as error:
        return f"machines of our own cannot be made: {error}"
    return None
