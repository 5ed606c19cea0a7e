"""A server's machine apart from its clients': a namespace of its own, and a wire that can fail.

The soak runs in namespaces of its own already (`tests.support.isolation`). From there an
interface leads to the wire (`tests.soak.frames`) and from that another to where the server runs; no
interface of the machine itself is touched, and all of it goes with the processes that hold it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Self

from tests.support.isolation import ending_with_us

CLIENT, SERVER = "10.77.0.1", "10.77.0.2"
_HERE, _WIRE_HERE, _WIRE_THERE, _THERE = "soak0", "soak1", "soak2", "soak3"
_CLIENT_MAC, _SERVER_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"


class Link:
    """The wire, for as long as the block lasts; `inside` runs a program at its far end."""

    def __init__(self, seed: str) -> None:
        python = [sys.executable, "-m", "tests.soak.frames"]
        self._wire = _apart(python)
        self._far = _apart(["sh", "-c", "echo apart && exec cat"])
        try:
            self._join(python)
            self._ask_for(f"{_WIRE_HERE} {_WIRE_THERE} {seed}", "carrying\n")
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self._wire, self._far):
            process.communicate(timeout=10)

    @property
    def inside(self) -> list[str]:
        """The command that runs another where the server's machine is."""
        return ["nsenter", f"--net=/proc/{self._far.pid}/ns/net", "--"]

    def order(self, *words: str) -> dict[str, int]:
        """Tell the wire something (see `frames.Weather`); return what it has carried and lost."""
        print(*words, file=self._wire.stdin, flush=True)
        assert self._wire.stdout is not None
        said: dict[str, int] = json.loads(self._wire.stdout.readline())
        return said

    def pull(self) -> None:
        """Pull the plug at the clients' end: their interface is down."""
        _ip("link", "set", _HERE, "down")

    def plug(self) -> None:
        """Put it in again."""
        _ip("link", "set", _HERE, "up")
        self._know_the_way()

    def _join(self, python: list[str]) -> None:
        wire, far = str(self._wire.pid), str(self._far.pid)
        _ip(
            *f"link add {_HERE} address {_CLIENT_MAC} type veth peer name {_WIRE_HERE}".split(),
            "netns",
            wire,
        )
        _ip(
            *f"link add {_THERE} netns {far} address {_SERVER_MAC} type veth peer name {_WIRE_THERE}".split(),
            "netns",
            wire,
        )
        _ip("address", "add", f"{CLIENT}/24", "dev", _HERE)
        self.plug()
        there = [*self.inside, "ip"]
        _ip("address", "add", f"{SERVER}/24", "dev", _THERE, by=there)
        _ip("link", "set", "lo", "up", by=there)
        _ip("link", "set", _THERE, "up", by=there)
        _ip(*_neighbour(CLIENT, _CLIENT_MAC, _THERE), by=there)
        subprocess.run([*python, "whole", _HERE], check=True)
        subprocess.run([*self.inside, *python, "whole", _THERE], check=True)

    @staticmethod
    def _know_the_way() -> None:
        """Know the other's hardware address for good, so that only TCP has losses to mend."""
        _ip(*_neighbour(SERVER, _SERVER_MAC, _HERE))

    def _ask_for(self, line: str, answer: str) -> None:
        print(line, file=self._wire.stdin, flush=True)
        assert self._wire.stdout is not None
        if (said := self._wire.stdout.readline()) != answer:
            raise AssertionError(f"the wire is not carried: {said!r}")


def _neighbour(address: str, mac: str, device: str) -> list[str]:
    return f"neighbour replace {address} lladdr {mac} dev {device} nud permanent".split()


def _ip(*words: str, by: list[str] | None = None) -> None:
    subprocess.run([*(by or ["ip"]), *words], check=True)


def _apart(command: list[str]) -> subprocess.Popen[str]:
    """Start a program in a network namespace of its own; it says `apart` when it is there."""
    process = subprocess.Popen(
        ending_with_us(["unshare", "--net", "--", *command]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    if process.stdout.readline() != "apart\n":
        process.communicate()
        raise AssertionError("no network namespace can be made here")
    return process
