"""HTTP/2 varied frame by frame, behind a few bytes that say how it is fed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.fuzz.mutation import plain
from tests.fuzz.target import Mutation

_HEAD = 9


def of(ahead: int, spare: list[bytes]) -> Mutation:
    """Return the mutation for frames behind `ahead` bytes; `spare` are frames to put in."""

    def mutated(data: bytes, chance: Random) -> bytes:
        if chance.random() < 0.15:
            return plain.mutated(data, chance)
        before, frames = data[:ahead], split(data[ahead:])
        for _ in range(chance.choice((1, 1, 2, 3))):
            at = chance.randint(0, len(frames))
            way = chance.random()
            if way < 0.35 or at == len(frames):
                frames.insert(at, chance.choice(spare))
            elif way < 0.5:
                del frames[at]
            elif way < 0.6:
                frames.insert(chance.randint(0, len(frames)), frames[at])
            else:
                frames[at] = chance.choice(_WAYS)(frames[at], chance)
        return (plain.mutated(before, chance) if chance.random() < 0.1 else before) + b"".join(
            frames
        )

    return mutated


def split(talk: bytes) -> list[bytes]:
    """Return the frames in a talk; the last may be broken off."""
    frames = []
    while talk:
        end = _HEAD + int.from_bytes(talk[:3], "big")
        frames.append(talk[:end])
        talk = talk[end:]
    return frames


def framed(head: bytes, payload: bytes) -> bytes:
    """Return a frame with the kind, flags and stream of `head`."""
    return len(payload).to_bytes(3, "big") + head[3:_HEAD] + payload


def _payload(frame: bytes, chance: Random) -> bytes:
    return framed(frame, plain.mutated(frame[_HEAD:], chance))


def _kind(frame: bytes, chance: Random) -> bytes:
    return frame[:3] + bytes((chance.randrange(12),)) + frame[4:]


def _flags(frame: bytes, chance: Random) -> bytes:
    return frame[:4] + bytes((frame[4] ^ 1 << chance.randrange(6),)) + frame[5:]


def _stream(frame: bytes, chance: Random) -> bytes:
    return (
        frame[:5]
        + chance.choice((0, 1, 2, 3, 5, 2**31 - 1, 2**32 - 1)).to_bytes(4, "big")
        + frame[9:]
    )


def _size(frame: bytes, chance: Random) -> bytes:
    return chance.choice((0, 1, 16384, 16385, 2**24 - 1)).to_bytes(3, "big") + frame[3:]


def _in_two(frame: bytes, chance: Random) -> bytes:
    at = chance.randint(0, len(frame) - _HEAD)
    return framed(frame, frame[_HEAD : _HEAD + at]) + framed(frame, frame[_HEAD + at :])


def _whole(change: Callable[[bytes, Random], bytes]) -> Callable[[bytes, Random], bytes]:
    return lambda frame, chance: change(frame, chance) if len(frame) >= _HEAD else frame


_WAYS = [*map(_whole, (_payload, _payload, _kind, _flags, _stream, _size, _in_two))]
