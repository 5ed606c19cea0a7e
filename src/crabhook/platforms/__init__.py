"""The agents, each a folder: bytes to model and model to bytes, without I/O.

`interface.py` says what each agent's folder has; they do not know each other. One line of `AGENTS`
registers an agent, and everything else finds it in `PLATFORMS`. What asks without hooks is there
too, but has no settings to install hooks into: the agents that have are in `HOOKED`.
"""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from crabhook.platforms.interface import Platform

AGENTS: dict[str, str] = {
    name: f"{__name__}.{name}"
    for name in (
        "claude",
        "gemini",
        "codex",
        "qwen",
        "copilot",
        "opencode",
    )
}
"""Each agent by the name of its platform, and the package whose PLATFORM it is."""

HOOKLESS: dict[str, str] = {"acp": f"{__name__}.acp"}
"""What asks without hooks, likewise: a program of ours that stands before any agent."""

AT_THE_DOOR: dict[str, str] = {"aap": f"{__name__}.aap"}
"""What asks at the HTTP door alone, likewise, which makes its events: no hook may forge them."""


class _Registry(Mapping[str, Platform]):
    """The agents of a table of packages, each imported when its agent is first asked for."""

    def __init__(self, packages: Mapping[str, str]) -> None:
        self._packages = packages

    def __getitem__(self, name: str) -> Platform:
        return _loaded(self._packages[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._packages)

    def __len__(self) -> int:
        return len(self._packages)

    def __contains__(self, name: object) -> bool:
        return name in self._packages


@cache
def _loaded(package: str) -> Platform:
    platform: Platform = import_module(package).PLATFORM
    return platform


HOOKED: Mapping[str, Platform] = _Registry(AGENTS)
CLIENTS: Mapping[str, Platform] = _Registry(ChainMap(HOOKLESS, AGENTS))
"""The platforms that a client of the permission port may name."""

PLATFORMS: Mapping[str, Platform] = _Registry(ChainMap(AT_THE_DOOR, HOOKLESS, AGENTS))
