"""Seals a message so that a single browser reads it: RFC 8291, on the encoding of RFC 8188.

The push service carries it and cannot open it. A message is one record: browsers need not take more
than 4096 bytes, and ours are some hundred.
"""

import base64
import binascii
from secrets import token_bytes
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from crabhook.model.errors import CrabhookError

ENCODING = "aes128gcm"
LARGEST = 3000  # bytes of a message; sealed, it is below the 4096 that every service takes

_CURVE = ec.SECP256R1()
_POINT, _SECRET, _SALT = 65, 16, 16  # bytes
_RECORD = 4096  # bytes
_LAST_RECORD = b"\x02"


class SealingError(CrabhookError):
    """Keys of a browser, or a message, that cannot be used."""


class BrowserKeys(NamedTuple):
    """What a browser gives out to have messages sealed: a point of P-256, and a secret."""

    point: bytes
    secret: bytes

    @classmethod
    def parse(cls, point: str, secret: str) -> "BrowserKeys":
        """Read the `p256dh` and `auth` of a subscription; raises SealingError."""
        keys = cls(from_base64url(point), from_base64url(secret))
        if len(keys.secret) != _SECRET:
            raise SealingError(f"the secret of a subscription has {_SECRET} bytes")
        _ = keys.public
        return keys

    @property
    def public(self) -> ec.EllipticCurvePublicKey:
        """The point as a key; raises SealingError for a point that is not on the curve."""
        if len(self.point) != _POINT:
            raise SealingError(f"the key of a subscription has {_POINT} bytes")
        try:
            return ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, self.point)
        except ValueError:
            raise SealingError("the key of a subscription is no point of P-256") from None


class Once(NamedTuple):
    """What is random in a sealed message, made for it alone."""

    key: ec.EllipticCurvePrivateKey
    salt: bytes

    @classmethod
    def new(cls) -> "Once":
        """Return a new key and salt."""
        return cls(ec.generate_private_key(_CURVE), token_bytes(_SALT))


def sealed(message: bytes, browser: BrowserKeys, once: Once | None = None) -> bytes:
    """Return a message that only this browser opens; raises SealingError."""
    if len(message) > LARGEST:
        raise SealingError(f"a message for a push service has at most {LARGEST} bytes")
    key, salt = once or Once.new()
    own = point_of(key.public_key())
    shared = key.exchange(ec.ECDH(), browser.public)
    about = b"WebPush: info\0" + browser.point + own
    material = _derived(shared, browser.secret, about, 32)
    content_key = _derived(material, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(material, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + _RECORD.to_bytes(4, "big") + len(own).to_bytes(1, "big") + own
    return header + AESGCM(content_key).encrypt(nonce, message + _LAST_RECORD, None)


def _derived(material: bytes, salt: bytes, about: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, about).derive(material)


def point_of(key: ec.EllipticCurvePublicKey) -> bytes:
    """Return a key as browsers and push services write it."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def to_base64url(data: bytes) -> str:
    """Return bytes as the web writes them, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Read what `to_base64url` wrote, padded or not; raises SealingError."""
    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise SealingError("the keys of a subscription are not in base64url") from None
