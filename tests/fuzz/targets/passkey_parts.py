"""What a browser sends of a passkey: no bytes of it open a call, enrol, or end otherwise than in words.

The first byte of an input says which part it takes the place of.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import parse_value
from crabhook.team.passkeys import Assertion, PasskeyError, Registration, enrolled, verify
from tests.fuzz.mutation import plain
from tests.fuzz.target import Target
from tests.support.authenticator import HOST, ORIGIN, Authenticator

_CHALLENGE = sha256(b"what was asked").digest()
_PHONE = Authenticator()
_SIGNED, _MADE = _PHONE.sign(_CHALLENGE), _PHONE.register(_CHALLENGE)
_OF_SIGNED = ("client_data", "authenticator_data", "signature")
_OF_MADE = ("client_data", "attestation")


def law(data: bytes) -> None:
    """Put the bytes in the place of a part: what comes is refused, or it is what was signed."""
    which, part = data[:1], data[1:]
    place = which[0] % (len(_OF_SIGNED) + len(_OF_MADE) + 1) if which else 0
    if place < len(_OF_SIGNED):
        name = _OF_SIGNED[place]
        if _verifies(replace(_SIGNED, **{name: part})):
            assert part == getattr(_SIGNED, name), name
    elif place < len(_OF_SIGNED) + len(_OF_MADE):
        name = _OF_MADE[place - len(_OF_SIGNED)]
        _enrols(replace(_MADE, **{name: part}))
    else:
        _as_json(part)


def _verifies(assertion: Assertion) -> bool:
    try:
        verify(assertion, _CHALLENGE, _PHONE.passkey(), (ORIGIN,))
    except PasskeyError as error:
        assert str(error)
        return False
    return True


def _enrols(made: Registration) -> None:
    """What is enrolled is for our page and asked who is there, whatever else it says."""
    with suppress(PasskeyError):
        new = enrolled(made, _CHALLENGE, HOST, (ORIGIN,))
        assert new.credential
        assert sha256(HOST.encode()).digest() in made.attestation


def _as_json(text: bytes) -> None:
    with suppress(PayloadError):
        value = parse_value(text)
        for kind in (Assertion, Registration):
            with suppress(PasskeyError):
                kind.from_json(value)


def seeds() -> list[bytes]:
    """Each part as it is; their signatures and keys are new at each run."""
    signed = [bytes((n,)) + getattr(_SIGNED, name) for n, name in enumerate(_OF_SIGNED)]
    made = [bytes((n,)) + getattr(_MADE, name) for n, name in enumerate(_OF_MADE, len(_OF_SIGNED))]
    deep = bytes((4,)) + b"\x81" * 2000  # an array in an array
    long = bytes((4,)) + b"\x9b" + b"\xff" * 8  # an array of as many as there can be
    return [*signed, *made, deep, long, b"\x05" + b'{"id":"AA","response":{"signature":"A"}}']


TARGET = Target(law, plain.mutated, seeds, longest=4096)
