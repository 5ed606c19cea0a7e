"""One change to one settings file: planned, shown, carried out."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crabhook.install.claude import NO_SETTINGS, without_hooks
from crabhook.install.errors import InstallError
from crabhook.install.settings_file import SettingsFile, read, write


@dataclass(frozen=True, slots=True)
class Change:
    """What the settings say and what they shall say."""

    settings: SettingsFile
    text: str

    @property
    def is_none(self) -> bool:
        """Whether there is nothing to do."""
        return self.text == self.settings.text

    def difference(self) -> str:
        """Return the change as a unified diff."""
        before, after = (t.splitlines(keepends=True) for t in (self.settings.text, self.text))
        name = str(self.settings.path)
        lines = difflib.unified_diff(before, after, name, name)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def carry_out(self, *, shared: bool = False) -> Path | None:
        """Write the change; return where the owner's part of the file is kept, if there was any.

        A new file is its owner's alone, or where it is `shared` anybody's to read.

        Raises InstallError, naming the file, if nothing could be written.
        """
        try:
            return write(self.settings, self.text.encode(), shared=shared, owned=_owned)
        except InstallError as error:
            raise _naming(self.settings.path, error) from error


def plan(path: Path, edit: Callable[[str], str]) -> Change:
    """Return the change that `edit`, from old text to new, makes to the settings at `path`.

    Raises InstallError, naming the file, if it cannot be read or edited.
    """
    try:
        settings = read(path)
        return Change(settings, edit(settings.text))
    except InstallError as error:
        raise _naming(path, error) from error


def _owned(content: bytes) -> bytes:
    """Return a settings file's content but for our own entries; nothing where no more is in it."""
    try:
        rest = without_hooks(content.decode())
    except (InstallError, UnicodeDecodeError):
        return content
    return b"" if rest.split() == NO_SETTINGS.split() else rest.encode()


def _naming(path: Path, error: InstallError) -> InstallError:
    return InstallError(f"{path}: {error}")
