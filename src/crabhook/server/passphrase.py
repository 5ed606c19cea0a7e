"""The passphrase that lets the operator be away by a word from another terminal.

An agent can say that word too, but it does not know the passphrase
(docs/decisions/0006).  What is kept of it is a hash, in a file that is its owner's
alone and is written whole or not at all; `Lockout` counts wrong tries.
"""

import hashlib
import os
import secrets
import stat
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Self

from crabhook.model.errors import CrabhookError
from crabhook.ownfile import open_own

SHORTEST, LONGEST = 8, 1024  # characters
TRIES = 5  # wrong ones in a row, after which none is looked at for a while
PAUSE = 60.0  # seconds of that while

# About 50 ms and 16 MiB a guess, for whoever has the hash.
_N, _R, _P = 1 << 14, 8, 1
_KIND = f"scrypt-{_N}-{_R}-{_P}"
_SALT_BYTES, _HASH_BYTES = 16, 32
_ANEW = ": remove it, and set one anew"


class PassphraseError(CrabhookError):
    """A passphrase, or what is kept of one, that cannot be used."""


@dataclass(frozen=True, slots=True)
class Passphrase:
    """What is kept of a passphrase: enough to know it again, not to say it."""

    salt: bytes
    hash: bytes = field(repr=False)

    @classmethod
    def of(cls, typed: str) -> Self:
        """Return what is to be kept of it, salted anew; raises PassphraseError for a poor one.

        Takes about 50 ms of a processor, as `matches` does.
        """
        if not SHORTEST <= len(_normal(typed)) <= LONGEST:
            raise PassphraseError(f"a passphrase has {SHORTEST} to {LONGEST} characters")
        salt = secrets.token_bytes(_SALT_BYTES)
        return cls(salt, _hash(typed, salt))

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read what `str` wrote; raises PassphraseError for anything else.

        Its cost is ours to say and never the file's, so no file can make the
        server work for an hour.
        """
        try:
            kind, salt, known = line.split()
            kept = cls(bytes.fromhex(salt), bytes.fromhex(known))
        except ValueError:
            raise PassphraseError(f"it is not what `crabhook passphrase` writes{_ANEW}") from None
        sizes = (len(kept.salt), len(kept.hash))
        if kind != _KIND or sizes != (_SALT_BYTES, _HASH_BYTES):
            raise PassphraseError(f"it was written by another version of crabhook{_ANEW}")
        return kept

    def __str__(self) -> str:
        return f"{_KIND} {self.salt.hex()} {self.hash.hex()}"

    def matches(self, typed: str) -> bool:
        """Whether this is the passphrase; for at most LONGEST characters."""
        return compare_digest(_hash(typed, self.salt), self.hash)


def _hash(typed: str, salt: bytes) -> bytes:
    data = _normal(typed).encode("utf-8", "surrogatepass")
    room = 256 * _N * _R  # bytes; scrypt takes half of it, and OpenSSL allows less unless told
    return hashlib.scrypt(data, salt=salt, n=_N, r=_R, p=_P, maxmem=room, dklen=_HASH_BYTES)


def _normal(typed: str) -> str:
    """Return the text as any keyboard would have sent it: é is one letter, or two."""
    return unicodedata.normalize("NFC", typed)


class Lockout:
    """Counts wrong passphrases; `clock` gives monotonic seconds.

    Five in a row, and none is looked at for a minute; each further wrong one
    costs a minute more, until a right one.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = 0.0
        self.wrong = 0

    def __repr__(self) -> str:
        return f"<Lockout wrong={self.wrong} left={self.left:.0f}>"

    @property
    def left(self) -> float:
        """How many seconds none is looked at any more; 0 when one is."""
        return max(0.0, self._until - self._clock()) if self.wrong >= TRIES else 0.0

    def count(self, *, right: bool) -> None:
        """Take in how a passphrase that was looked at turned out."""
        self.wrong = 0 if right else self.wrong + 1
        if self.wrong >= TRIES:
            self._until = self._clock() + PAUSE


NAME = "passphrase"
"""Its name in the state folder."""

_LARGEST = 1024  # bytes; what we write has 115


def load(path: Path) -> Passphrase | None:
    """Return what is kept at `path`; None where there is nothing.

    Raises PassphraseError for a file that is not ours alone, or that we did not write.
    """
    try:
        with open_own(path) as (file, found):
            text = file.read(_LARGEST).decode("ascii", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PassphraseError(f"{path} cannot be read: {error.strerror}") from error
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise PassphraseError(f"{path} cannot be used: others can reach it: chmod 600 {path}")
    try:
        return Passphrase.parse(text)
    except PassphraseError as error:
        raise PassphraseError(f"{path} cannot be used: {error}") from error


def keep(path: Path, passphrase: Passphrase) -> None:
    """Write it in the place of what is there; raises PassphraseError, and then nothing changed."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile("w", encoding="ascii", dir=path.parent, delete=False) as file:
            try:  # mode 0600 from the beginning: tempfile's own promise
                file.write(f"{passphrase}\n")
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except OSError:
                with suppress(FileNotFoundError):
                    Path(file.name).unlink()
                raise
    except OSError as error:
        raise PassphraseError(f"{path} cannot be written: {error.strerror}") from error


def remove(path: Path) -> None:
    """Keep nothing any more; raises PassphraseError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise PassphraseError(f"{path} cannot be removed: {error.strerror}") from error
