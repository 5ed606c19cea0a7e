"""The wire between two machines that are none: a process that carries frames, or loses them.

Run as `python -m tests.soak.frames` in a network namespace of its own, where two interfaces end.
A frame that comes in on one goes out on the other, unless chance, a hole or the age of its
connection is against it. Orders come as lines of words on standard input, each is answered with a
line of JSON, and the end of the input is the end. (The kernel's own way, netem, is not in every
kernel, and needs a module; raw sockets are everywhere.)
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import random
import select
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field

ALL_PROTOCOLS = 0x0003
LONGEST = 65536
IPV4, TCP = b"\x08\x00", 6
SIOCETHTOOL = 0x8946
OFFLOADS = (0x17, 0x19, 0x1F, 0x21, 0x24, 0x2C)
"""ETHTOOL_STXCSUM, _SSG, _STSO, _SUFO, _SGSO, _SGRO of ethtool.h: all off, every frame is whole."""

HOLES = {"none": (), "out": (0,), "back": (1,), "both": (0, 1)}
"""Which directions are closed, by name: 0 is from the clients to the server, 1 the way back."""


@dataclass
class Carried:
    """How many frames were carried, lost by chance, and lost in a hole or as a dead connection's."""

    carried: int = 0
    lost: int = 0
    cut: int = 0


@dataclass
class Weather:
    """What is against the frames now; `dead` are clients' ports that nothing passes from or to."""

    loss: float = 0.0
    hole: tuple[int, ...] = ()
    seen: set[int] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)

    def obey(self, order: list[str]) -> None:
        """Take one order: `loss 0.1`, `hole both`, or `orphan`, after which all that are, are dead."""
        match order:
            case ["loss", share]:
                self.loss = float(share)
            case ["hole", name]:
                self.hole = HOLES[name]
            case ["orphan"]:
                self.dead |= self.seen
            case ["count"]:
                pass
            case _:
                raise ValueError(f"no such order: {order}")

    def passes(self, frame: bytes, way: int, chance: random.Random, count: Carried) -> bool:
        """Say whether a frame arrives, and count it."""
        port = client_port(frame, way)
        if port is not None:
            self.seen.add(port)
        if way in self.hole or port in self.dead:
            count.cut += 1
            return False
        if self.loss and chance.random() < self.loss:
            count.lost += 1
            return False
        count.carried += 1
        return True


def client_port(frame: bytes, way: int) -> int | None:
    """Return the client's port of a TCP segment in an Ethernet frame; None for anything else."""
    if frame[12:14] != IPV4 or len(frame) < 34 or frame[23] != TCP:
        return None
    at = 14 + (frame[14] & 0x0F) * 4 + (2 if way else 0)
    return int.from_bytes(frame[at : at + 2], "big") if len(frame) >= at + 2 else None


def send_whole_frames(name: str) -> None:
    """Have an interface leave no checksum and no segmentation to hardware that is not there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for command in OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0), 8)
            asked = struct.pack("16sP16x", name.encode(), ctypes.addressof(value))
            with suppress(
                OSError
            ):  # what this kernel's interfaces cannot do needs no switching off
                fcntl.ioctl(probe, SIOCETHTOOL, asked)


def _line(name: str) -> socket.socket:
    line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    line.bind((name, 0))
    line.setblocking(False)
    return line


class Wire:
    """Two interfaces, and what is between them."""

    def __init__(self, names: list[str], seed: str) -> None:
        self._lines = [_line(name) for name in names]
        self._weather, self._count, self._chance = Weather(), Carried(), random.Random(seed)

    def carry(self) -> None:
        """Carry frames until standard input ends."""
        while True:
            ready, _, _ = select.select([sys.stdin, *self._lines], [], [])
            for way, line in enumerate(self._lines):
                if line in ready:
                    self._across(way)
            if sys.stdin in ready:
                order = sys.stdin.readline().split()
                if not order:
                    return
                self._weather.obey(order)
                print(json.dumps(asdict(self._count)), flush=True)

    def _across(self, way: int) -> None:
        for _ in range(64):  # then the other way has its turn, and orders theirs
            try:
                frame, about = self._lines[way].recvfrom(LONGEST)
            except OSError:  # no more for now, or the interface is down
                return
            leaving = about[2] == socket.PACKET_OUTGOING
            if leaving or not self._weather.passes(frame, way, self._chance, self._count):
                continue
            try:
                self._lines[1 - way].send(frame)
            except OSError:  # its queue is full, or it is down: a frame is lost, as frames are
                self._count.lost += 1


def main() -> None:
    """Be the wire between the interfaces that the first line names, once they are there."""
    print("apart", flush=True)
    *names, seed = sys.stdin.readline().split()
    for name in names:
        subprocess.run(["ip", "link", "set", name, "up"], check=True)
    print("carrying", flush=True)
    Wire(names, seed).carry()


if __name__ == "__main__":
    if sys.argv[1:2] == ["whole"]:
        send_whole_frames(sys.argv[2])
    else:
        main()
