"""A server's key for push services, and the tokens that it signs: RFC 8292 (VAPID).

A browser takes messages from the holder of the key alone that it subscribed with. So the key is
made once, and stays.
"""

import hmac
import json
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from crabhook.model.errors import CrabhookError
from crabhook.safe_open import open_own, read_own, write_own
from crabhook.server.push.sealing import point_of, to_base64url

VALID_FOR = 12 * 3600  # seconds of a token; services take 24 hours at most
CONTACT = "https://github.com/crabhook/crabhook"
"""Where a push service may complain of our messages; Apple's takes no token without an address."""

_LARGEST = 4096  # bytes of the key's file


class ServerKeyError(CrabhookError):
    """The server's key for push that cannot be read or made."""


class ServerKey:
    """The key with which this server shows push services who sends."""

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key
        self.public = to_base64url(point_of(key.public_key()))
        secret = key.private_numbers().private_value.to_bytes(32, "big")
        self._for_tokens = sha256(b"crabhook push token" + secret).digest()

    def __repr__(self) -> str:
        return f"<ServerKey {self.public[:8]}>"

    @classmethod
    def in_file(cls, path: Path) -> "ServerKey":
        """Return the key in a file, which is made where there is none; raises ServerKeyError."""
        try:
            if not path.exists():
                made = _pem(ec.generate_private_key(ec.SECP256R1()))
                with suppress(FileExistsError):  # another process was faster
                    write_own(path, made, new=True)
            return _read(path)
        except OSError as error:
            raise ServerKeyError(f"{path} cannot be used: {error.strerror}") from error

    @classmethod
    def of_pem(cls, pem: bytes) -> "ServerKey":
        """Return the key in a text; raises ValueError, TypeError where there is none of ours."""
        key = load_pem_private_key(pem, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
            raise ValueError("no key of P-256")
        return cls(key)

    @property
    def pem(self) -> bytes:
        """The key as it is written, not encrypted."""
        return _pem(self._key)

    def header(self, service: str, now: float) -> str:
        """Return the header `Authorization` for a service's origin, `now` in seconds since 1970."""
        claims = {"aud": service, "exp": int(now) + VALID_FOR, "sub": CONTACT}
        signed = ".".join(map(_part, ({"typ": "JWT", "alg": "ES256"}, claims)))
        numbers = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(SHA256())))
        signature = b"".join(number.to_bytes(32, "big") for number in numbers)
        return f"vapid t={signed}.{to_base64url(signature)}, k={self.public}"

    def mac(self, text: str) -> str:
        """Return what proves that a text is ours, to a reader with this key."""
        return to_base64url(
            hmac.digest(self._for_tokens, text.encode("utf-8", "replace"), "sha256")[:16]
        )


def _part(content: object) -> str:
    return to_base64url(json.dumps(content, separators=(",", ":")).encode())


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _read(path: Path) -> ServerKey:
    with open_own(path) as (_, status):
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise ServerKeyError(f"{path} cannot be used: others can reach it: chmod 600 {path}")
    try:
        return ServerKey.of_pem(read_own(path, _LARGEST))
    except (ValueError, TypeError):
        raise ServerKeyError(f"{path} holds no key of P-256") from None
