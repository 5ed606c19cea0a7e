"""The file with the passphrase's hash: its owner's alone, written whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from crabhook.ownfile import open_own
from crabhook.server.passphrase import Passphrase, PassphraseError

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
