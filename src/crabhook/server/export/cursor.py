"""How far the record was exported: the last record that the receiver has taken, kept on disk."""

from pathlib import Path

from crabhook.model.errors import CrabhookError
from crabhook.safe_open import read_own, write_own
from crabhook.store.record import GENESIS, Head
from crabhook.store.writer import head_line, read_head

_LARGEST = 4096


class CursorError(CrabhookError):
    """The cursor cannot be read or written."""


class CursorFile:
    """The file of the cursor, which holds the head of what was exported."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"<CursorFile {self.path}>"

    def read(self) -> Head | None:
        """Return the cursor; None before the first export. Raises CursorError."""
        try:
            text = read_own(self.path, _LARGEST).decode("ascii")
            return GENESIS if (head := read_head(text)).seq == 0 else head
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise CursorError(f"{self.path} cannot be read: {error}") from error

    def keep(self, head: Head) -> None:
        """Keep the cursor, whole or not at all. Raises CursorError."""
        try:
            write_own(self.path, head_line(head).encode("ascii"))
        except OSError as error:
            raise CursorError(f"{self.path} cannot be written: {error.strerror}") from error
