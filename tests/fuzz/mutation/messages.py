"""A row of calls at the permission port, varied call by call and field by field.

A call is a byte that says which, two bytes of length, and the message as it is on the wire.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from google.protobuf.message import DecodeError

from crabhook.v1 import permission_pb2 as pb
from tests.fuzz.mutation import plain
from tests.fuzz.target import Mutation

ASK, CONFIRM = 0, 1


def split(data: bytes) -> list[tuple[int, bytes]]:
    """Return the calls in a row: which it is, and its message; the last may be broken off."""
    calls = []
    while data:
        end = 3 + int.from_bytes(data[1:3], "big")
        calls.append((data[0] % 2, data[3:end]))
        data = data[end:]
    return calls


def joined(calls: Iterable[tuple[int, bytes]]) -> bytes:
    """Return calls as a row."""
    short = ((which, message[:65535]) for which, message in calls)
    return b"".join(bytes((which,)) + len(one).to_bytes(2, "big") + one for which, one in short)


def of(payload: Mutation) -> Mutation:
    """Return the mutation; `payload` is that of the hooks' inputs inside."""

    def mutated(data: bytes, chance: Random) -> bytes:
        calls = split(data)
        for _ in range(chance.choice((1, 1, 2, 3))):
            if not calls:
                return plain.mutated(data, chance)
            at = chance.randrange(len(calls))
            which, message = calls[at]
            way = chance.random()
            if way < 0.6:
                calls[at] = which, _varied(which, message, chance, calls, payload)
            elif way < 0.7:
                calls[at] = which, plain.mutated(message, chance)
            elif way < 0.85:
                calls.insert(chance.randint(0, len(calls)), calls[at])
            elif way < 0.93:
                calls[at] = 1 - which, message  # its ticket is in the same two fields
            else:
                del calls[at]
        return joined(calls)

    return mutated


def _varied(
    which: int, message: bytes, chance: Random, calls: list[tuple[int, bytes]], payload: Mutation
) -> bytes:
    try:
        kind = pb.ConfirmReplyRequest if which == CONFIRM else pb.PermissionRequest
        told = kind.FromString(message)
        other = pb.ConfirmReplyRequest.FromString(chance.choice(calls)[1])
    except DecodeError:
        return plain.mutated(message, chance)
    way = chance.random()
    if way < 0.2:
        told.request_id = chance.choice((other.request_id, "", "a b", "x" * 65, "\u202e"))
    elif way < 0.35:
        told.secret = chance.choice((other.secret, "", "wrong", "\x1b"))
    elif isinstance(told, pb.PermissionRequest):
        _request(told, chance, payload)
    return told.SerializeToString()


def _request(told: pb.PermissionRequest, chance: Random, payload: Mutation) -> None:
    way = chance.random()
    if way < 0.6:
        told.payload = payload(told.payload, chance)
    elif way < 0.7:
        told.platform = chance.choice(("claude", "gemini", "codex", "", "nobody\x1b"))
    elif way < 0.8:
        told.wait_ms = chance.choice((0, 1, 500, 60_000, 2**31, 2**53, 2**64 - 1))
    elif way < 0.9:
        told.stance = chance.choice((0, 1, 2, 3, 7, -1))  # type: ignore[assignment]
    else:
        told.client.host = chance.choice(("\x1b]0;x\x07", "h" * 3000, "\u202e"))
        told.client.pid = chance.choice((0, 2**32 - 1))
