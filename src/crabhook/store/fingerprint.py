"""Fingerprints of secrets: equal secrets are known again, and none can be guessed from them."""

import hmac
import os
from pathlib import Path

from crabhook.ownfile import read_own
from crabhook.store.errors import CorruptError
from crabhook.store.sqlite_files import named

KEY_BYTES = 32


def fingerprint(key: bytes, secret: str) -> str:
    """Return eight hexadecimal digits that say nothing of `secret` without the key."""
    text = secret.encode("utf-8", "surrogatepass")
    return hmac.digest(key, text, "sha256").hex()[:8]


def load_key(path: Path) -> bytes:
    """Return the key in `path`, made at random the first time.  Raises a StoreError."""
    try:
        return _checked(path, read_own(path, 1024))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise named(error, path) from error
    try:
        return _made(path)
    except OSError as error:
        raise named(error, path) from error


def _made(path: Path) -> bytes:
    key = os.urandom(KEY_BYTES)
    beside = path.with_name(f"{path.name}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, key)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    beside.replace(path)
    return key


def _checked(path: Path, key: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise CorruptError(
            f"{path} is not {KEY_BYTES} bytes long; move it away: marks made from then on will "
            "not match the older ones"
        )
    return key
