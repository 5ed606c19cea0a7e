"""The gRPC port, on a real socket: no bytes in a path or a header end it, and nothing is allowed.

Each input is a list of headers, `name: value` a line, with any bytes. The port must still answer
its own health call afterwards.
"""

from __future__ import annotations

import asyncio
import atexit
from contextlib import AsyncExitStack
from random import Random

from crabhook.hook.call import OK
from crabhook.server.address import Address
from tests.fuzz.mutation import words
from tests.fuzz.target import Target
from tests.support.port import METHOD, Opened, opened
from tests.support.raw_http2 import headers, send

_HEALTH = b"/grpc.health.v1.Health/Check"
_LOOP = asyncio.Runner()
_OPEN = AsyncExitStack()
_PORT: list[Opened] = []


def law(data: bytes) -> None:
    """Send the headers, then ask how the port is: the port answers, and no call was decided."""
    _LOOP.run(_law(data))


async def _law(data: bytes) -> None:
    if not _PORT:
        _PORT.append(await _OPEN.enter_async_context(opened()))
        atexit.register(_close)
    port = _PORT[0]
    address: Address = port.bound[0]
    await send(address, _headers(data))
    assert await send(address, headers(_HEALTH)) == OK
    assert not port.runner.broker.waiting(), "an empty request waits"


def _close() -> None:
    _LOOP.run(_OPEN.aclose())


def _headers(data: bytes) -> list[tuple[bytes, bytes]]:
    """Read the lines; a name may begin with a colon."""
    lines = (line.rpartition(b": ") for line in data.split(b"\n") if b": " in line)
    return [(name, value) for name, _, value in lines]


def _lines(path: bytes, *more: tuple[bytes, bytes]) -> bytes:
    return b"\n".join(b"%b: %b" % header for header in headers(path, *more))


def seeds() -> list[bytes]:
    """Calls of methods that there are and are not, with high bytes in each header."""
    high = bytes(range(0x80, 0x100))
    usual = headers(METHOD.encode())
    paths = [METHOD.encode(), _HEALTH, b"/\xff", b"/" + high, b"\xc3", b"/\xed\xa0\x80", b""]
    varied = [
        b"\n".join(
            b"%b: %b" % (name, value + high if name == bad else value) for name, value in usual
        )
        for bad, _ in usual
    ]
    return [*map(_lines, paths), *varied, _lines(_HEALTH, (b"x-high", high), (b"x\xff", high))]


_VOCABULARY = (
    "\n", ": ", ":path", ":method", ":scheme", ":authority", ":status", "te", "trailers", "POST", "GET", "/", METHOD,
    "grpc-timeout", "1n", "99999999H", "grpc-encoding", "gzip", "grpc-accept-encoding", "content-type", "application/grpc",
    "authorization", "Bearer ", "user-agent", "-bin", "host", "cookie", "content-length", "\xff", "\x80", "\xc3\x28", "\0",
    "\xed\xa0\x80", "\xc0\xaf", "%FF", "//", "..", "/grpc.health.v1.Health/Watch", "/crabhook.v1.DeskService/SetPresence",
)  # fmt: skip


def mutated(data: bytes, chance: Random) -> bytes:
    """Vary the lines."""
    return words.of(_VOCABULARY, [("/", "/")])(data, chance)


TARGET = Target(law, mutated, seeds, longest=4096)
