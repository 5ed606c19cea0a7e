"""Which files are looked at: those that are named, and in folders those that look like hooks."""

import os
from collections.abc import Iterator
from pathlib import Path

from crabhook.lint.file import CONFIGURATIONS, File, Kind

MAX_FOUND = 20_000  # files looked into below one folder

_PASSED_OVER = frozenset(
    {".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", "site-packages", ".tox"}
)
_SUFFIXES = frozenset({".py", ".sh", ".bash", ""})
# A script that names none of these has nothing to do with an agent's hook.
_TELLTALES = (
    "hook_event_name",
    "hookSpecificOutput",
    "permissionDecision",
    "tool_input",
    "stop_hook_active",
    "transcript_path",
    "CLAUDE_TOOL_",
    "CLAUDE_FILE_PATH",
)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder that may be hooks or configurations; follows no links."""
    found = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
        for name in sorted(names):
            path = Path(parent, name)
            if name in CONFIGURATIONS or path.suffix in _SUFFIXES:
                found += 1
                if found > MAX_FOUND:
                    return
                yield path


def looks_like_a_hook(file: File) -> bool:
    """Whether a script found in a folder speaks of hooks at all."""
    if file.kind not in {Kind.PYTHON, Kind.SHELL}:
        return file.path.name in CONFIGURATIONS
    if file.kind is Kind.PYTHON and "stdin" not in file.text and "CLAUDE_" not in file.text:
        return False
    return any(word in file.text for word in _TELLTALES)
