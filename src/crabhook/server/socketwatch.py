"""A look, once a second, at whether our sockets are still the ones that hooks find.

Whoever runs as the server's own user can put another socket in the place of ours: then
hooks ask somebody else, who may allow what nobody has seen.  This cannot be prevented
from here (SECURITY.md), but it does not go unseen.
"""

import asyncio
import os
from collections.abc import Callable, Iterable
from pathlib import Path

LOOK_EVERY = 1.0  # seconds


class SocketWatch:
    """Knows the sockets at `paths` as they are now, and says when they are others."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._known = {path: _identity(path) for path in paths}
        self._wrong: dict[Path, str] = {}

    def __repr__(self) -> str:
        return f"<SocketWatch {len(self._known)} wrong={list(self._wrong.values())}>"

    @property
    def trouble(self) -> str:
        """What is wrong with our sockets now; empty where nothing is."""
        return next(filter(None, self._wrong.values()), "")

    def look(self) -> list[str]:
        """Return what is new: a socket that was replaced or removed, or is ours again."""
        said = []
        for path, ours in self._known.items():
            wrong = _wrong(path, ours)
            if wrong == self._wrong.get(path, ""):
                continue
            self._wrong[path] = wrong
            said.append(wrong or f"{path} is this server's own socket again")
        return said

    async def keep(self, tell: Callable[[str], object]) -> None:
        """Look until cancelled, and tell what is new."""
        while self._known:
            for news in self.look():
                tell(news)
            await asyncio.sleep(LOOK_EVERY)


def _wrong(path: Path, ours: tuple[int, ...] | None) -> str:
    found = _identity(path)
    if found == ours:
        return ""
    if found is None:
        return f"THE SOCKET {path} IS GONE: no hook can ask here; start crabhook serve again"
    return (
        f"THE SOCKET {path} WAS REPLACED, or changed: hooks that start now may ask another "
        "program, which can allow anything; stop your agents, find out who listens there (lsof), "
        "and start crabhook serve again"
    )


def _identity(path: Path) -> tuple[int, ...] | None:
    """Return what tells a file at a path from any other: nobody can set its time of change."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_ctime_ns)
