"""The chain: each record's hash covers its content and the hash of the record before it."""

import json
from collections.abc import Sequence
from hashlib import sha256

from crabhook.store.record import Head

GENESIS = Head(0, bytes(32))
_TEXT = json.JSONEncoder(separators=(",", ":"), default=repr)


def link(before: bytes, content: Sequence[object]) -> bytes:
    """Return the hash of a record.

    `before` is the hash of the record before, always 32 bytes; `content` is
    every column but the hash, in order.  As a JSON list it is unambiguous:
    nothing can move from one column to the next and leave the text the same.
    What JSON has no word for (a blob somebody put there) is hashed by its
    repr, so that no content whatever makes verifying fail.
    """
    return sha256(before + _TEXT.encode(content).encode("ascii")).digest()
