"""Seals what a team's servers share, so that nobody else who reads their record can read it.

The key comes from the authority's own key. A server gets it when a person opens that with the
passphrase there, by `crabhook team init` or `crabhook team pull`.
"""

import base64
import binascii
from secrets import token_bytes

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from crabhook.team.folder import Folder, TeamError, private

_KIND = "crabhook-sealed-v1 "
_NONCE, _KEY = 12, 32  # bytes


class ServerSeal:
    """The seal of a team's servers: who opens a text knows that one of them made it."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def __repr__(self) -> str:
        return "<ServerSeal>"

    def sealed(self, name: str, content: bytes) -> str:
        """Return a content as a text that counts under this name alone."""
        nonce = token_bytes(_NONCE)
        text = nonce + self._cipher.encrypt(nonce, content, self._bound(name))
        return _KIND + base64.b64encode(text).decode()

    def opened(self, name: str, text: str) -> bytes:
        """Return what was sealed under this name; raises TeamError for any other text."""
        try:
            both = base64.b64decode(text.removeprefix(_KIND), validate=True)
            return self._cipher.decrypt(both[:_NONCE], both[_NONCE:], self._bound(name))
        except (InvalidTag, ValueError, binascii.Error):
            raise TeamError(f"no server of this team has sealed {name} on record") from None

    def _bound(self, name: str) -> bytes:
        return f"{_KIND}\0{name}".encode()


def seal_of(folder: Folder) -> ServerSeal | None:
    """Return the seal of the team's servers; None where its key is missing. Raises TeamError."""
    if not folder.sealing_key.exists():
        return None
    try:
        key = bytes.fromhex(private(folder.sealing_key).decode())
    except ValueError:
        key = b""
    if len(key) != _KEY:
        raise TeamError(
            f"{folder.sealing_key} holds no key: remove it, and run `crabhook team pull`"
        )
    return ServerSeal(key)
