"""SSH keys of every kind that shows presence, in memory: one in hardware is a software one here."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from crabhook.team.call_signature import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Mapping

TOUCHED, VERIFIED = 0x01, 0x04
KINDS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)


def string(data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return len(data).to_bytes(4, "big") + data


def number(value: int) -> bytes:
    return string(value.to_bytes(value.bit_length() // 8 + 1, "big"))


@dataclass
class Signer:
    """A key pair; `flags` are what a key in hardware says of a touch."""

    kind: str
    flags: int = TOUCHED
    counter: int = 7
    application: str = "ssh:"
    _edwards: ed25519.Ed25519PrivateKey = field(default_factory=ed25519.Ed25519PrivateKey.generate)
    _curve: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def blob(self) -> bytes:
        """The public key as SSH has it."""
        if "ed25519" in self.kind:
            raw = self._edwards.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
            parts = string(raw)
        else:
            point = self._curve.public_key().public_bytes(
                Encoding.X962, PublicFormat.UncompressedPoint
            )
            parts = string("nistp256") + string(point)
        hardware = string(self.application) if self.kind.startswith("sk-") else b""
        return string(self.kind) + parts + hardware

    @property
    def line(self) -> str:
        """The line of a .pub file."""
        return f"{self.kind} {base64.b64encode(self.blob).decode()} a comment"

    def _bare(self, data: bytes) -> bytes:
        if "ed25519" in self.kind:
            return self._edwards.sign(data)
        r, s = decode_dss_signature(self._curve.sign(data, ec.ECDSA(SHA256())))
        return number(r) + number(s)

    def _made(self, data: bytes) -> bytes:
        if not self.kind.startswith("sk-"):
            return string(self.kind) + string(self._bare(data))
        told = bytes((self.flags,)) + self.counter.to_bytes(4, "big")
        covered = hashlib.sha256(self.application.encode()).digest() + told
        covered += hashlib.sha256(data).digest()
        return string(self.kind) + string(self._bare(covered)) + told

    def signature(
        self, message: bytes, namespace: str = NAMESPACE, hashed: str = "sha512"
    ) -> bytes:
        """The message signed, as PROTOCOL.sshsig has it, without armour."""
        digest = hashlib.new(hashed, message).digest()
        body = string(namespace) + string("") + string(hashed)
        made = self._made(b"SSHSIG" + body + string(digest))
        return b"SSHSIG\0\0\0\1" + string(self.blob) + body + string(made)


def armoured(signature: bytes) -> str:
    """A signature as ssh-keygen writes it."""
    text = base64.b64encode(signature).decode()
    lines = [text[at : at + 70] for at in range(0, len(text), 70)]
    return "\n".join(("-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""))


def signers() -> Mapping[str, Signer]:
    return {kind: Signer(kind) for kind in KINDS}
