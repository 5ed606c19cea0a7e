"""The real Claude Code for end-to-end tests, or a clear word on why it cannot run here."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.support import requirements
from tests.support.claude import Claude
from tests.support.gemini import Gemini
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


class MakeGemini(Protocol):
    """Makes an installation of Gemini CLI, hooked to a server, whose model says these turns."""

    def __call__(
        self, server: str, *turns: Turn, options: tuple[str, ...] = (), **more: Any
    ) -> Gemini:
        """`options` are those of `crabhook install`; `more` are further fields of `Gemini`."""


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[MakeGemini]:
    """Make installations of Gemini CLI under the test's folder; whatever runs is ended with it."""
    requirements.insist("gemini")
    with ExitStack() as ending:

        def make(server: str, *turns: Turn, options: tuple[str, ...] = (), **more: Any) -> Gemini:
            agent = Gemini(tmp_path / "gemini", Script(turns), **more)
            ending.callback(agent.close)
            agent.install(server, *options)
            return agent

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
