"""The agents, each a folder: bytes to model and model to bytes, without I/O.

`interface.py` says what each agent's folder has; they do not know each other. One line of `AGENTS`
registers an agent, and everything else finds it in `PLATFORMS`.
"""

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


class _Registry(Mapping[str, Platform]):
    """The agents of AGENTS; a package is imported when its agent is first asked for."""

    def __getitem__(self, name: str) -> Platform:
        return _loaded(AGENTS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(AGENTS)

    def __len__(self) -> int:
        return len(AGENTS)

    def __contains__(self, name: object) -> bool:
        return name in AGENTS


@cache
def _loaded(package: str) -> Platform:
    platform: Platform = import_module(package).PLATFORM
    return platform


PLATFORMS: Mapping[str, Platform] = _Registry()
