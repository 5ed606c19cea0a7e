"""The real paths of the files that a call will change."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os.path import normpath

from crabhook.rulebook.context import real_path
from crabhook.server.core.rules_in_force import LOOK_WITHIN, MOST_HANGING


class FileFinder:
    """Resolves real paths in threads, so that a file system that hangs blocks no other hook."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST_HANGING + 1, "crabhook-files")
        self._hanging: set[asyncio.Future[tuple[str, ...]]] = set()

    async def found(
        self, paths: Sequence[str], host: str, *, looked: bool = False
    ) -> tuple[str, ...]:
        """Return the real paths of files, or their names as given after a timeout.

        Files of another machine, `host`, keep their names, after its name. `looked`: the loop has
        just looked at these files, so a thread is not needed.
        """
        named = _by_name(paths, host)
        if looked and not host:
            return _really(paths)
        if host or not named or len(self._hanging) >= MOST_HANGING:
            return named
        looking = asyncio.get_running_loop().run_in_executor(self._threads, _really, paths)
        try:
            async with asyncio.timeout(LOOK_WITHIN):
                return await asyncio.shield(looking)
        except TimeoutError:
            self._hanging.add(looking)
            looking.add_done_callback(self._hanging.discard)
            return named


def _by_name(paths: Sequence[str], host: str) -> tuple[str, ...]:
    machine = f"{host}:" if host else ""
    return tuple(dict.fromkeys(machine + normpath(path) for path in paths))


def _really(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(real_path(path) for path in paths if "\0" not in path))
