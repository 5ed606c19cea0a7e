"""A settings file on disk: read once, kept as a backup, replaced in one step.

A change is planned, shown and carried out. A symbolic link stays a link, since people keep dotfiles
so: its target is replaced. The user names the file, so any user may own it; but it must be a
regular file of limited size.
"""

import difflib
import glob
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crabhook.datatypes import frozen
from crabhook.install.entries import NO_SETTINGS, count, without_hooks
from crabhook.model.errors import InstallError
from crabhook.safe_open import open_own, read_own

LARGEST = 4 << 20  # bytes of a settings file
_BACKUP = ".crabhook-backup"
_EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def read_settings(path: Path) -> bytes:
    """Return the content of an agent's file, of any owner. Raises OSError."""
    return read_own(path, LARGEST, anybodys=True)


@frozen
class SettingsFile:
    """A settings file as it was read.

    `path` is where the agent looks for it, `target` its real path, links followed. `content` and
    `status` are None if there is no file.
    """

    path: Path
    target: Path
    content: bytes | None
    status: os.stat_result | None

    @property
    def text(self) -> str:
        """The content as text, empty for no file. Raises InstallError if it is not UTF-8."""
        try:
            return (self.content or b"").decode()
        except UnicodeDecodeError as error:
            raise InstallError(f"it is not UTF-8 (byte {error.start})") from error


def read(path: Path) -> SettingsFile:
    """Read the settings at `path`, if there are any; raises InstallError if that is no file."""
    target = Path(os.path.realpath(path))
    try:
        with open_own(target, anybodys=True) as (file, status):
            if status.st_size > LARGEST:
                raise InstallError(f"it is larger than {LARGEST >> 20} MiB")
            return SettingsFile(path, target, file.read(LARGEST), status)
    except FileNotFoundError:
        return SettingsFile(path, target, None, None)
    except OSError as error:
        raise InstallError(f"it cannot be read: {error.strerror}") from error


def write(settings: SettingsFile, content: bytes, *, shared: bool = False) -> Path | None:
    """Replace the file's content; return the path of the backup, or None without one.

    A backup that has all but our entries is used again. Even an empty file has one: without any
    backup there was no file. The new content is complete on disk before the replacement, with the
    old mode and owner; a new file is private, or readable for all if `shared`. Raises InstallError,
    with the file unchanged, if writing fails or the file has changed since it was read.
    """
    folder = settings.target.parent
    try:
        _refuse_changed(settings)
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            if shared:  # whatever the umask: who cannot look into it runs no hook
                folder.chmod(0o755)
        backup = _back_up(settings)
        _replace(settings, content, shared=shared)
    except OSError as error:
        whose = " (only root may: run this as root)" if shared and os.geteuid() else ""
        raise InstallError(f"it cannot be written: {error.strerror}{whose}") from error
    return backup


def remove(settings: SettingsFile) -> None:
    """Remove a file that was ours alone. Raises InstallError if it was changed meanwhile."""
    try:
        _refuse_changed(settings)
        settings.target.unlink()
        _sync(settings.target.parent)
    except OSError as error:
        raise InstallError(f"it cannot be removed: {error.strerror}") from error


def _refuse_changed(settings: SettingsFile) -> None:
    """Refuse if someone else, most likely the agent itself, wrote the file in between."""
    now = read(settings.path)
    if (now.content, now.target) != (settings.content, settings.target):
        raise InstallError("it was changed by another program meanwhile: run this again")


def backups_of(path: Path) -> list[Path]:
    """Return the backups that crabhook made of a settings file."""
    stem = f"{path.name}{_BACKUP}"
    numbered = path.parent.glob(f"{glob.escape(stem)}.*")
    made = [path for path in numbered if path.name.removeprefix(f"{stem}.").isdecimal()]
    return [path for path in (path.with_name(stem), *sorted(made)) if os.path.lexists(path)]


def _back_up(settings: SettingsFile) -> Path | None:
    """Keep the content under a new name, unless a backup has all that counts."""
    if settings.content is None:
        return None
    wanted = _owned(settings.content)
    if not wanted.strip() and has_hooks(settings.path):  # it is all ours
        return None
    stem = settings.path.name + _BACKUP
    number = 1
    backup = settings.path.with_name(stem)
    while os.path.lexists(backup):
        with suppress(OSError):
            if _owned(read_own(backup, LARGEST, anybodys=True)) == wanted:
                return backup
        number += 1
        backup = settings.path.with_name(f"{stem}.{number}")
    _create(backup, settings.content, settings.status)
    return backup


def _replace(settings: SettingsFile, content: bytes, *, shared: bool) -> None:
    name = f".{settings.target.name}.crabhook-{secrets.token_hex(4)}"
    temporary = settings.target.with_name(name)
    _create(temporary, content, settings.status)
    if shared and settings.status is None:
        temporary.chmod(0o644)
    try:
        _refuse_changed(settings)
        temporary.replace(settings.target)
    finally:
        temporary.unlink(missing_ok=True)
    _sync(settings.target.parent)


def _create(path: Path, content: bytes, like: os.stat_result | None) -> None:
    """Write a new file through to the disk, with the mode and owner of `like`.

    Without `like` the file is private from its first moment, with any umask: it may get a token.
    """
    descriptor = os.open(path, _EXCLUSIVE, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            if like is not None:
                mine = os.fstat(descriptor)
                if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        path.unlink()
        raise


def _sync(folder: Path) -> None:
    """Make a rename in `folder` survive a loss of power, on file systems that can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@frozen
class SettingsChange:
    """What the settings say and what they shall say."""

    settings: SettingsFile
    text: str

    @property
    def is_none(self) -> bool:
        """Whether there is nothing to do."""
        return self.text == self.settings.text

    @property
    def removes(self) -> bool:
        """Whether the file goes: it shall hold nothing, and no owner's link leads to it."""
        return not self.text and not self.settings.path.is_symlink()

    def difference(self) -> str:
        """Return the change as a unified diff."""
        before, after = (t.splitlines(keepends=True) for t in (self.settings.text, self.text))
        name = str(self.settings.path)
        lines = difflib.unified_diff(before, after, name, name)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def carry_out(self, *, shared: bool = False) -> Path | None:
        """Write the change; return the backup of the owner's part, if there was one.

        A new file is private, or readable for all if `shared`. Raises InstallError, naming the
        file, if writing failed.
        """
        with _named(self.settings.path):
            if self.removes:
                remove(self.settings)
                return None
            return write(self.settings, self.text.encode(), shared=shared)


def removal(path: Path) -> SettingsChange:
    """Return the change that takes our hooks out.

    The file goes too if no more is in it and we made it. An owner's has a backup, or is a link.
    """
    change = plan(path, without_hooks)
    made = not (path.is_symlink() or backups_of(path))
    empty = change.text.split() == NO_SETTINGS.split()
    return SettingsChange(change.settings, "") if made and empty and not change.is_none else change


def plan(path: Path, edit: Callable[[str], str]) -> SettingsChange:
    """Return the change that `edit` makes to the settings at `path`; raises InstallError."""
    with _named(path):
        settings = read(path)
        return SettingsChange(settings, edit(settings.text))


def has_hooks(path: Path) -> bool:
    """Whether the settings at `path` have hooks of ours; unreadable settings have none that run."""
    try:
        return count(read(path).text) > 0
    except InstallError:
        return False


def _owned(content: bytes) -> bytes:
    """Return a settings file's content without our entries; empty if there is no more."""
    try:
        rest = without_hooks(content.decode())
    except (InstallError, UnicodeDecodeError):
        return content
    return b"" if rest.split() == NO_SETTINGS.split() else rest.encode()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in an InstallError."""
    try:
        yield
    except InstallError as error:
        raise InstallError(f"{path}: {error}") from error
