"""Codex's patch: every file that it touches, as Codex itself reads the text.

Codex passes over blanks before a header, so a header is one wherever it
stands, save behind a sign that puts a line in or takes it out.  Inside a
hunk such a line may be no header but a line kept; its file counts all the
same, since a file too many is only one question more.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAMES_FILE = re.compile(r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)")
_FIRST, _LAST = "*** Begin Patch", "*** End Patch"
_NAMES_NONE = frozenset({"*** End of File"})
_BLANKS = " \t\r"
_SIGNS = ("+", "-")
_PARTS = (" ", "@@")  # what a line of a hunk may begin with besides: kept, or where it is


@dataclass(frozen=True, slots=True)
class Patch:
    """The files a patch names, in their order, and why it may not be all of them."""

    paths: tuple[str, ...]
    trouble: str = ""


def read_patch(text: str) -> Patch:
    """Return what the patch in `text` touches; what is not wholly understood has a trouble."""
    lines = text.strip().split("\n")
    paths = tuple(path for line in lines if (path := _path(line)))
    return Patch(
        paths, next(_troubles(lines), "") or ("" if paths else "a patch that names no file")
    )


def _path(line: str) -> str:
    """Return the file that a header names; nothing for any other line."""
    found = None if line.startswith(_SIGNS) else _NAMES_FILE.match(line.lstrip())
    return found[1].rstrip(_BLANKS) if found else ""


def _troubles(lines: list[str]) -> Iterator[str]:
    if lines[0].strip() != _FIRST or lines[-1].strip() != _LAST:
        yield "a patch without its first or last line"
    for line in lines[1:-1]:
        head = line.strip()
        if line.startswith(_SIGNS) or not head or _path(line) or head in _NAMES_NONE:
            continue
        if head.startswith("***") or not line.startswith(_PARTS):
            yield "a line of a patch that rules do not know"
