"""Presence shown by an SSH key, in place of the passphrase: what is signed, and its effect.

A device shows its closing key. A signature by the same person's SSH key, over this one call to this
server, lets the call do what the person may do.

This module reads public keys and checks ssh-keygen's signatures (OpenSSH's PROTOCOL.sshsig). A
hardware key (`sk-…`) says whether somebody touched it; no other key proves a person.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256, sha512
from pathlib import Path
from typing import NamedTuple, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from crabhook.datatypes import frozen
from crabhook.hook.statement import framed, unframed
from crabhook.model.errors import CrabhookError
from crabhook.team.membership import Identified, Principal, Team, TeamRefusal

NAMESPACE = "presence@crabhook"
"""What ssh-keygen signs for: no signature that was made for anything else counts."""

LARGEST = 4096  # bytes of a signature, and of a public key
_MAGIC = b"SSHSIG"
_VERSION = 1
_TOUCHED = 0x01  # the flag by which a key in hardware says that somebody touched it
_HASHES = {b"sha256": sha256, b"sha512": sha512}
_KINDS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)
_ARMOUR = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"


class SshError(CrabhookError):
    """A public key or a signature that cannot be used; says why."""


@frozen
class PublicKey:
    """A public key: its kind, as `ssh-ed25519`, and its bytes as SSH has them."""

    kind: str
    blob: bytes

    @classmethod
    def parse(cls, line: str) -> "PublicKey":
        """Read a line of a .pub file; raises SshError."""
        words = line.split(None, 2)
        try:
            blob = base64.b64decode(words[1], validate=True)
            kind = next(unframed(blob)).decode("ascii")
        except (IndexError, ValueError, StopIteration):
            raise SshError("it is no public key: a line as `ssh-ed25519 AAAA…` is") from None
        if kind != words[0] or kind not in _KINDS or len(blob) > LARGEST:
            raise SshError(f"a key must be one of {', '.join(_KINDS)}: this key is {words[0]}")
        return cls(kind, blob)

    def __str__(self) -> str:
        return f"{self.kind} {base64.b64encode(self.blob).decode()}"

    @property
    def in_hardware(self) -> bool:
        """Whether its signatures say that somebody touched it."""
        return self.kind.startswith("sk-")

    @property
    def fingerprint(self) -> str:
        """Its name, as `ssh-keygen -l` prints it."""
        return f"SHA256:{base64.b64encode(sha256(self.blob).digest()).decode().rstrip('=')}"


def public_half(key: Path) -> PublicKey | None:
    """Return the public half of an SSH key; None where it is not there, or is of no kind we take.

    The key's file may be the public half, of a key that an agent or hardware holds.
    """
    for file in (Path(f"{key}.pub"), key):
        with suppress(OSError, SshError, UnicodeError):
            return PublicKey.parse(file.read_text("utf-8"))
    return None


def bare(armoured: str) -> bytes:
    """Return a signature as ssh-keygen writes it, without its armour; raises SshError."""
    begins, ends = _ARMOUR
    text = armoured.partition(begins)[2].partition(ends)[0]
    try:
        signature = base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        signature = b""
    if not signature:
        raise SshError("it is no SSH signature")
    return signature


@frozen
class Shown:
    """A signature that is true: whose key made it, and whether the key says it was touched."""

    key: PublicKey
    touched: bool


def shown_by(signature: bytes, message: bytes, purpose: str = NAMESPACE) -> Shown:
    """Return whose signature of the message this is; raises SshError if it is false.

    `purpose` is the namespace for which it has to be made.
    """
    if len(signature) > LARGEST or not signature.startswith(_MAGIC):
        raise SshError("it is no SSH signature")
    if signature[len(_MAGIC) : len(_MAGIC) + 4] != _VERSION.to_bytes(4, "big"):
        raise SshError("the SSH signature is of another version")
    try:
        blob, namespace, reserved, hashed, made = unframed(signature[len(_MAGIC) + 4 :])
        kind = next(unframed(blob)).decode("ascii")
        digest = _HASHES[hashed](message).digest()
        if kind not in _KINDS:
            raise ValueError(kind)  # noqa: TRY301 - as every other wrong one
    except (ValueError, StopIteration, KeyError):
        raise SshError("the SSH signature cannot be read") from None
    if namespace != purpose.encode():
        raise SshError("the SSH signature was made for something else")
    parts = (namespace, reserved, hashed, digest)
    signed = _MAGIC + framed(*parts)
    try:
        touched = _verify(blob, made, signed)
    except (InvalidSignature, ValueError, StopIteration):
        raise SshError("the SSH signature is false") from None
    return Shown(PublicKey(kind, blob), touched)


def _verify(blob: bytes, made: bytes, signed: bytes) -> bool:
    """Verify a signature by a key, both as SSH has them; return whether the key was touched.

    Raises InvalidSignature or ValueError.
    """
    kind, *parts = unframed(blob)
    touched = False
    if kind.startswith(b"sk-"):
        *parts, application = parts
        made, flags_and_counter = made[:-5], made[-5:]  # a byte of flags, and a counter
        touched = bool(int.from_bytes(flags_and_counter[:1], "big") & _TOUCHED)
        signed = sha256(application).digest() + flags_and_counter + sha256(signed).digest()
    named, signature = unframed(made)
    if kind != named:
        raise ValueError("the signature is of another kind than its key")
    if b"ed25519" in kind:
        (public,) = parts
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, signed)
        return touched
    curve, point = parts
    if curve != b"nistp256":
        raise ValueError("it is not on the curve P-256")
    r, s = (int.from_bytes(number, "big") for number in unframed(signature))
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    key.verify(encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))
    return touched


HEADER = "crabhook-presence-bin"
"""The metadata of a call in which a signature comes: `SignedPresence` in operator.proto."""

WITHIN = 120.0  # seconds from when it was asked for; somebody has to find the key and touch it
TOO_LONG_AGO = "the signature was asked for too long ago: try again"

SIGNED_AS = b"crabhook-presence-v1"
"""The first field of what is signed."""

Sign: TypeAlias = Callable[[bytes], Awaitable[bytes]]
"""Has a person's key sign a text; returns the signature without armour, or raises CrabhookError."""


class SignedCall(NamedTuple):
    """What is signed: a call by this person, to the server that made the challenge.

    `team` and `operator` are ids, `request` is the message as sent, and `at` is when the server
    asked for the signature, by its clock.
    """

    team: str
    operator: str
    challenge: bytes
    rpc: str
    request: bytes
    at: float

    @property
    def text(self) -> bytes:
        """The bytes that are signed."""
        fields = (self.team.encode(), self.operator.encode(), self.challenge, self.rpc.encode())
        at = round(self.at * 1000).to_bytes(8, "big")
        return framed(SIGNED_AS, *fields, sha256(self.request).digest(), at)


def fields_of(text: bytes) -> tuple[bytes, ...]:
    """Return the fields of a signed text, as `SignedCall.text` has them; raises ValueError."""
    return tuple(unframed(text))


def opened_by(
    signature: bytes, call: SignedCall, team: Team, principal: Principal, now: float
) -> Identified:
    """Return the principal with the right to open, or why the call's signature does not give it."""
    if abs(now - call.at) > WITHIN:
        return TeamRefusal(TOO_LONG_AGO)
    try:
        shown = shown_by(signature, call.text)
    except SshError as error:
        return TeamRefusal(str(error))
    keys = next((member.keys for member in team.members if member.id == principal.operator), ())
    key = next((candidate for candidate in keys if candidate.key == str(shown.key)), None)
    if key is None:
        return TeamRefusal(
            f"{shown.key.fingerprint} is no key of {principal.name}'s: an admin runs "
            "`crabhook team keys trust`"
        )
    if shown.key.in_hardware and not shown.touched:
        return TeamRefusal("the key was not touched")
    if not shown.key.in_hardware and not key.confirmed:
        return TeamRefusal("this key signs without a person")
    return replace(principal, closing=False, signed=True)
