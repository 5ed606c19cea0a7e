"""What an agent or a repository may leave in the place of a file that is to be read."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path


def _link_to_fifo(path: Path) -> None:
    target = path.with_name("target")
    os.mkfifo(target)
    path.symlink_to(target)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(8 << 30)


_MAKERS: Mapping[str, Callable[[Path], object]] = {
    "fifo": os.mkfifo,
    "link to stdin": lambda path: path.symlink_to("/dev/stdin"),
    "link to zero": lambda path: path.symlink_to("/dev/zero"),
    "link to fifo": _link_to_fifo,
    "link to itself": lambda path: path.symlink_to(path),
    "folder": Path.mkdir,
    "sparse": _sparse,
}

TRAPS = ("fifo", "link to stdin", "link to zero", "sparse")
"""Those on which a careless reader waits for ever, or reads without end."""


def make(path: Path, kind: str) -> Path:
    """Make a thing of that kind at `path`, its folder too; nothing where the kind is no such."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind in _MAKERS:
        _MAKERS[kind](path)
    return path
