"""Which files the linter reads, and their kind: named files, and in folders likely hooks."""

import os
import re
import stat
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from crabhook.data_files import names
from crabhook.datatypes import frozen
from crabhook.lint.script import CannotReadError
from crabhook.safe_open import open_own

MAX_BYTES = 512 * 1024  # fifty times a long hook; keeps every later step short

MAX_FOUND = 20_000  # files looked into below one folder

_PASSED_OVER = names(".git .hg .venv venv node_modules __pycache__ site-packages .tox")
_SCRIPTS = frozenset({".py", ".sh", ".bash", ""})
# A script that names none of these has nothing to do with an agent's hook.
_TELLTALES = names(
    "hook_event_name hookSpecificOutput permissionDecision tool_input stop_hook_active "
    "transcript_path CLAUDE_TOOL_ CLAUDE_FILE_PATH"
)


class FileKind(StrEnum):
    """What a file is to the linter."""

    PYTHON = "Python script"
    SHELL = "shell script"
    JSON = "JSON configuration"
    TOML = "TOML configuration"
    OTHER = "nothing that it knows"


@frozen
class File:
    """A file's text and its kind; `executable`: its mode lets some user run it."""

    path: Path
    text: str
    kind: FileKind
    executable: bool = False


CONFIGURATIONS = names(
    "settings.json settings.local.json hooks.json config.toml opencode.json opencode.jsonc"
)
"""The names that agents give the files in which hooks are registered."""
_FOLDERS_OF_HOOKS = (".copilot/hooks", ".github/hooks")  # in which any JSON file registers some

_SUFFIXES = {
    ".py": FileKind.PYTHON,
    ".sh": FileKind.SHELL,
    ".bash": FileKind.SHELL,
    ".json": FileKind.JSON,
    ".jsonc": FileKind.JSON,
    ".toml": FileKind.TOML,
}
_PYTHON = re.compile(r"#!.*\b(?:python|pypy|uv\s+run)")
_SHELL = re.compile(r"#!.*\b(?:sh|bash|dash|ksh)\b")


def shebang(text: str) -> str:
    """Return the first line of `text` if it names an interpreter."""
    return text.split("\n", 1)[0].rstrip("\r") if text.startswith("#!") else ""


def kind_of(name: str, text: str) -> FileKind:
    """Return what a file is, by its first line before its name."""
    first = shebang(text)
    if _PYTHON.match(first):
        return FileKind.PYTHON
    if _SHELL.match(first):
        return FileKind.SHELL
    return _SUFFIXES.get(Path(name).suffix, FileKind.OTHER)


def read_file(path: Path) -> File:
    """Read a file; CannotReadError if it is no regular file, too large, no text, or forbidden."""
    try:
        with open_own(path, anybodys=True) as (opened, status):
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise CannotReadError(error.strerror or str(error)) from error
    if len(content) > MAX_BYTES:
        raise CannotReadError(f"it is larger than {MAX_BYTES // 1024} KiB, so no hook of any use")
    if b"\0" in content:
        raise CannotReadError("it is binary")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CannotReadError(f"it is not UTF-8 (byte {error.start})") from error
    executable = bool(status.st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))
    return File(path, text, kind_of(path.name, text), executable)


def _registers(path: Path) -> bool:
    """Whether a file is where an agent looks for its hooks, by its name."""
    in_folder = path.suffix == ".json" and path.parent.as_posix().endswith(_FOLDERS_OF_HOOKS)
    return path.name in CONFIGURATIONS or in_folder


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder that may be hooks or configurations; follows no links."""
    count = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
        for name in sorted(files):
            path = Path(parent, name)
            if _registers(path) or path.suffix in _SCRIPTS:
                count += 1
                if count > MAX_FOUND:
                    return
                yield path


def looks_like_a_hook(file: File) -> bool:
    """Whether a script found in a folder speaks of hooks at all."""
    if file.kind not in {FileKind.PYTHON, FileKind.SHELL}:
        return _registers(file.path)
    if file.kind is FileKind.PYTHON and "stdin" not in file.text and "CLAUDE_" not in file.text:
        return False
    return any(word in file.text for word in _TELLTALES)
