"""Bytes varied without knowing what they are."""

from __future__ import annotations

from random import Random

_TELLING = (
    b"\0", b"\xff", b"\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xef\xbb\xbf",
    b"\x1b[2J", b"\x9b31m", b"\xe2\x80\xae", b"\r", b"\n", b"\t", b" ", b'"', b"'", b"\\", b"\x7f",
    b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
)  # fmt: skip


def mutated(data: bytes, chance: Random) -> bytes:
    """Return the bytes with a few places changed."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = chance.choice(_WAYS)(data, chance)
    return data


def _span(data: bytes, chance: Random) -> tuple[int, int]:
    start = chance.randint(0, len(data))
    return start, min(len(data), start + chance.choice((1, 1, 2, 4, 8, 32)))


def _cut(data: bytes, chance: Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + data[end:]


def _again(data: bytes, chance: Random) -> bytes:
    start, end = _span(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 1, 2, 50)) + data[end:]


def _put(data: bytes, chance: Random) -> bytes:
    at, _ = _span(data, chance)
    return data[:at] + chance.choice(_TELLING) + data[at:]


def _replaced(data: bytes, chance: Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + chance.randbytes(end - start) + data[end:]


def _flipped(data: bytes, chance: Random) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << chance.randrange(8),)) + data[at + 1 :]


def _moved(data: bytes, chance: Random) -> bytes:
    start, end = _span(data, chance)
    rest = data[:start] + data[end:]
    at = chance.randint(0, len(rest))
    return rest[:at] + data[start:end] + rest[at:]


def _ended(data: bytes, chance: Random) -> bytes:
    return data[: chance.randint(0, len(data))]


_WAYS = (_cut, _again, _put, _replaced, _flipped, _flipped, _moved, _ended)
