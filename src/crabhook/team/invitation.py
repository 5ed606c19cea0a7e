"""An invitation into the team: one line that one person sends another, and what is proven by it.

It needs nothing but the standard library, since a machine where agents run joins by it too.
"""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass, field
from enum import IntEnum

from crabhook.model.errors import CrabhookError
from crabhook.tables import tables

VALID = 15 * 60  # seconds
TRIES = 5  # wrong secrets, after which nobody is listened to any more
PORT, DESK_PORT, HOOK_PORT = 7445, 7444, 7443
"""Where one joins, where desks go then, and where hooks do, unless somebody says otherwise."""
SERVICE = "/crabhook.v1.EnrolService"

_PIN, _TEAM, _SECRET, _CHECK = 20, 16, 16, 2  # bytes
_VERSION = 1
_LINE = re.compile(r"crab1([a-z2-7]+)@(.+):([0-9]{1,5})")
_WORDS = tables(__file__, "words")["words"].split()


class InvitationError(CrabhookError):
    """A line that is no invitation, or one that leads nowhere any more."""


class Joins(IntEnum):
    """What an invitation is for, as the wire numbers it."""

    DESK = 1
    MACHINE = 2


def pin_of(certificate: bytes) -> bytes:
    """Return what an invitation knows a listener's certificate by, which is given in DER."""
    return hashlib.sha256(certificate).digest()[:_PIN]


def team_of(authority: bytes) -> bytes:
    """Return what an invitation knows a team by: its authority's certificate, in DER."""
    return hashlib.sha256(authority).digest()[:_TEAM]


@dataclass(frozen=True, slots=True)
class Invitation:
    """Where to join, whom to expect there, and the secret that may be shown there once."""

    host: str
    port: int
    pin: bytes
    team: bytes
    secret: bytes = field(repr=False)

    def __str__(self) -> str:
        packed = bytes((_VERSION,)) + self.pin + self.team + self.secret
        text = base64.b32encode(packed + _check(packed)).decode().rstrip("=").lower()
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"crab1{text}@{host}:{self.port}"

    @classmethod
    def parse(cls, line: str) -> "Invitation":
        """Read what `str` wrote; raises InvitationError."""
        found = _LINE.fullmatch(line.strip())
        if found is None or not 0 < int(found[3]) < 65536:
            raise InvitationError(
                "this is no invitation: it is one line, as crab1…@HOST:PORT, whole"
            )
        text = found[1].upper()
        try:
            packed = base64.b32decode(text + "=" * (-len(text) % 8))
        except binascii.Error:
            packed = b""
        packed, check = packed[:-_CHECK], packed[-_CHECK:]
        if len(packed) != 1 + _PIN + _TEAM + _SECRET or _check(packed) != check:
            raise InvitationError("a letter of the invitation is missing or wrong: copy it anew")
        if packed[0] != _VERSION:
            raise InvitationError("the invitation is a newer crabhook's: update this one")
        pin, rest = packed[1 : 1 + _PIN], packed[1 + _PIN :]
        host = found[2].removeprefix("[").removesuffix("]")
        return cls(host, int(found[3]), pin, rest[:_TEAM], rest[_TEAM:])


def _check(packed: bytes) -> bytes:
    return hashlib.sha256(packed).digest()[:_CHECK]


def kept(secret: bytes) -> bytes:
    """Return what who invited keeps of the secret: enough to check a proof, and in memory alone."""
    return hashlib.sha256(b"crabhook-join-v1\0" + secret).digest()


def proof(known: bytes, *fields: bytes) -> bytes:
    """Return the proof that somebody who has the secret has said these fields; see `kept`."""
    return hmac.digest(known, framed(*fields), "sha256")


def proves(known: bytes, shown: bytes, *fields: bytes) -> bool:
    """Whether it is that proof, in a time that tells nothing about it."""
    return hmac.compare_digest(proof(known, *fields), shown)


def six_words(pin: bytes, nonce: bytes, *fields: bytes) -> str:
    """Return the words that both ends show, of the keys and of what neither end chose alone."""
    found = hashlib.sha256(framed(b"crabhook-words-v1", pin, nonce, *fields)).digest()
    return " ".join(_WORDS[byte] for byte in found[:6])


def framed(*fields: bytes) -> bytes:
    """Return fields one after the other, so that no two rows of fields have the same bytes."""
    return b"".join(len(one).to_bytes(4, "big") + one for one in fields)
