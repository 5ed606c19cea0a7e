"""Whether the real agents can run on this machine, and if not, why not."""

from __future__ import annotations

import functools
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support import isolation

AGENTS = Path(__file__).resolve().parents[1] / "agents"
PACKAGE = "@anthropic-ai/claude-code"
REQUIRED = "CRABHOOK_REQUIRE_AGENTS"
"""Set to 1 where a missing agent is a failure and not a reason to skip: in CI."""


def pinned_version() -> str:
    """The version of Claude Code that the tests are written for."""
    manifest = json.loads((AGENTS / "package.json").read_text(encoding="utf-8"))
    return str(manifest["dependencies"][PACKAGE])


def claude_program() -> Path | None:
    """The program of the platform package that npm chose for this machine; None when missing."""
    folder = AGENTS / "node_modules" / "@anthropic-ai"
    found = sorted(folder.glob("claude-code-*/claude"))
    return next((program for program in found if os.access(program, os.X_OK)), None)


def installed_version() -> str | None:
    """The version of the program that is installed; None when there is none."""
    program = claude_program()
    if program is None:
        return None
    manifest = json.loads((program.parent / "package.json").read_text(encoding="utf-8"))
    return str(manifest["version"])


@functools.cache
def missing() -> tuple[str, ...]:
    """What the end-to-end tests lack here, each with what to do about it; empty when all is there."""
    lacks = []
    if installed_version() != pinned_version():
        found = installed_version() or "none"
        lacks.append(f"{PACKAGE} {pinned_version()} (found: {found}); run tests/agents/install")
    if shutil.which("tmux") is None:
        lacks.append("tmux; install it with the system's package manager")
    if (refusal := isolation.why_not()) is not None:
        lacks.append(f"network and process namespaces ({refusal})")
    return tuple(lacks)


def insist() -> None:
    """Skip the test where something is missing; fail it where the agents are required."""
    if lacks := missing():
        reason = "Claude Code cannot run here; missing: " + "; ".join(lacks)
        (pytest.fail if os.environ.get(REQUIRED) == "1" else pytest.skip)(reason)
