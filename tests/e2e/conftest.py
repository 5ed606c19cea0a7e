"""The real agents for end-to-end tests, or a clear word on why one cannot run here, and a desk."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import pytest

from tests.support import requirements
from tests.support.agent import Installed
from tests.support.claude import Claude
from tests.support.copilot import Copilot
from tests.support.gemini import Gemini
from tests.support.plain_desk import PlainDesk
from tests.support.qwen import Qwen
from tests.support.turns import Script, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class MakeClaude(Protocol):
    """Makes an installation of Claude Code whose model says these turns."""

    def __call__(
        self, *turns: Turn, settings: Mapping[str, Any] | None = None, **more: Any
    ) -> Claude:
        """`more` are further fields of `Claude`: environment, seconds; `script` replaces `turns`."""


A = TypeVar("A", bound=Installed)


class MakeHooked(Protocol[A]):
    """Makes an installation of an agent, hooked to a server, whose model says these turns."""

    def __call__(self, server: str, *turns: Turn, options: tuple[str, ...] = (), **more: Any) -> A:
        """`options` are those of `crabhook install`; `more` are further fields of the agent."""


MakeGemini: TypeAlias = MakeHooked[Gemini]


@contextmanager
def hooking(kind: type[A], folder: Path, *usual: str, **fixed: Any) -> Iterator[MakeHooked[A]]:
    """Give what makes installations of an agent in a folder; whatever runs is ended with it."""
    requirements.insist(folder.name)
    with ExitStack() as ending:

        def make(server: str, *turns: Turn, options: tuple[str, ...] = usual, **more: Any) -> A:
            agent = kind(folder, Script(turns), **fixed | more)
            ending.callback(agent.close)
            agent.install(server, *options)
            return agent

        yield make


@pytest.fixture
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[MakeGemini]:
    with hooking(Gemini, tmp_path / "gemini") as make:
        yield make


@pytest.fixture
def copilot(tmp_path: Path) -> Iterator[MakeHooked[Copilot]]:
    with hooking(Copilot, tmp_path / "copilot", "--gate", seconds=120) as make:
        yield make


@pytest.fixture
def qwen(tmp_path: Path) -> Iterator[MakeHooked[Qwen]]:
    with hooking(Qwen, tmp_path / "qwen", "--gate", seconds=120) as make:
        yield make


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[MakeClaude]:
    """Make installations of Claude Code under the test's folder; whatever runs is ended with it."""
    requirements.insist()
    with ExitStack() as ending:
        made = 0

        def make(*turns: Turn, settings: Mapping[str, Any] | None = None, **more: Any) -> Claude:
            nonlocal made
            made += 1
            more.setdefault("script", Script(turns))
            one = Claude(tmp_path / f"claude-{made}", settings=settings or {}, **more)
            ending.callback(one.close)
            return one

        yield make
