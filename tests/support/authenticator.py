"""A software authenticator with one passkey: what a phone and its browser would send, in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_bytes

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from fido2.cose import ES256, ES384, RS256, CoseKey, EdDSA

from crabhook.team.membership import Passkey
from crabhook.team.passkeys import Assertion, Registration, to_text

ORIGIN, HOST = "https://desk.example:7446", "desk.example"
PRESENT, VERIFIED, CAN_BE_COPIED, IS_COPIED, WITH_KEY = 0x01, 0x04, 0x08, 0x10, 0x40
AAGUID = bytes.fromhex("ea9b8d664d011d213ce4b6b48cb575d4")
FAR = 1 << 40  # seconds since 1970

Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey
KINDS: dict[str, type[CoseKey]] = {"ES256": ES256, "EdDSA": EdDSA, "RS256": RS256, "ES384": ES384}


def _new_key(kind: str) -> Key:
    match kind:
        case "EdDSA":
            return ed25519.Ed25519PrivateKey.generate()
        case "RS256":
            return rsa.generate_private_key(65537, 2048)
        case "ES384":
            return ec.generate_private_key(ec.SECP384R1())
    return ec.generate_private_key(ec.SECP256R1())


@dataclass
class Authenticator:
    """One passkey. Each field may be set to what a forger would say."""

    kind: str = "ES256"
    rp: str = HOST
    origin: str = ORIGIN
    flags: int = PRESENT | VERIFIED
    cross_origin: bool = False
    counter: int = 0
    credential: bytes = field(default_factory=lambda: token_bytes(32))
    aaguid: bytes = AAGUID
    _key: Key = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._key = _new_key(self.kind)

    @property
    def public(self) -> bytes:
        """The public key, as COSE has it."""
        return cbor.encode(dict(KINDS[self.kind].from_cryptography_key(self._key.public_key())))

    @property
    def private(self) -> Key:
        """The private key, for an authenticator that a browser has."""
        return self._key

    def passkey(self, name: str = "Pixel", **other: object) -> Passkey:
        """The passkey as the team file would have it, without an enrolment."""
        ids = (f"p-{name}", to_text(self.credential), to_text(self.public))
        copied = bool(self.flags & CAN_BE_COPIED)
        known = Passkey(*ids, self.rp, name, 0, FAR, backup_eligible=copied)
        return Passkey(**{**_fields(known), **other})  # type: ignore[arg-type]

    def _client_data(self, kind: str, challenge: bytes) -> bytes:
        told = {"type": kind, "challenge": to_text(challenge), "origin": self.origin}
        return json.dumps({**told, "crossOrigin": self.cross_origin}).encode()

    def _data(self, more: bytes = b"", flags: int = 0) -> bytes:
        head = sha256(self.rp.encode()).digest() + bytes((self.flags | flags,))
        return head + self.counter.to_bytes(4, "big") + more

    def register(self, challenge: bytes, kind: str = "webauthn.create") -> Registration:
        """Make the passkey known."""
        length = len(self.credential).to_bytes(2, "big")
        data = self._data(self.aaguid + length + self.credential + self.public, WITH_KEY)
        made = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        return Registration(self._client_data(kind, challenge), made)

    def sign(self, challenge: bytes, kind: str = "webauthn.get") -> Assertion:
        """Sign a challenge, by a person's finger."""
        client_data, data = self._client_data(kind, challenge), self._data()
        made = self._signature(data + sha256(client_data).digest())
        return Assertion(self.credential, client_data, data, made)

    def _signature(self, signed: bytes) -> bytes:
        match self._key:
            case ed25519.Ed25519PrivateKey():
                return self._key.sign(signed)
            case rsa.RSAPrivateKey():
                return self._key.sign(signed, PKCS1v15(), SHA256())
        return self._key.sign(signed, ec.ECDSA(SHA256()))


def _fields(passkey: Passkey) -> dict[str, object]:
    return {name: getattr(passkey, name) for name in Passkey.__dataclass_fields__}
