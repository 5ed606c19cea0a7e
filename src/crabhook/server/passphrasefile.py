"""The file with the passphrase's hash: its owner's alone, written whole or not at all."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from crabhook.server.passphrase import Passphrase, PassphraseError

NAME = "passphrase"
"""Its name in the state folder."""

_LARGEST = 1024  # bytes; what we write has 115


def load(path: Path) -> Passphrase | None:
    """Return what is kept at `path`; None where there is nothing.

    Raises PassphraseError for a file that is not ours alone, or that we did not write.
    """
    try:
        # No link, and no pipe that would let us wait for its writer.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PassphraseError(f"{path} cannot be read: {error.strerror}") from error
    try:
        _be_ours_alone(path, os.fstat(handle))
        return Passphrase.parse(os.read(handle, _LARGEST).decode("ascii", "replace"))
    except PassphraseError as error:
        raise PassphraseError(f"{path} cannot be used: {error}") from error
    finally:
        os.close(handle)


def _be_ours_alone(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        raise PassphraseError("it is not a file of this user's")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise PassphraseError(f"others can reach it: chmod 600 {path}")


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
