"""Whether the real agents can run on this machine, and if not, why not."""

from __future__ import annotations

import functools
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support import isolation

AGENTS = Path(__file__).resolve().parents[1] / "agents"
REQUIRED = "CRABHOOK_REQUIRE_AGENTS"
"""Set to 1 where a missing agent is a failure and not a reason to skip: in CI."""


def leave_out(reason: str) -> NoReturn:
    """Skip the test for this reason; fail it in CI, where all that tests need is required."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def insist_on_packages(folder: Path, whose: str) -> None:
    """Leave the test out where node, or a package that a folder's manifest pins, is missing."""
    manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    lacks = [] if shutil.which("node") else ["node"]
    for package, wanted in manifest["dependencies"].items():
        place = folder / "node_modules" / package / "package.json"
        have = json.loads(place.read_text(encoding="utf-8"))["version"] if place.exists() else ""
        install = (folder / "install").relative_to(AGENTS.parents[1])
        lacks += [] if have == wanted else [f"{package} {wanted}; run {install}"]
    if lacks:
        leave_out(f"{whose} cannot run here; missing: {'; '.join(lacks)}")


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent's package, and where npm puts its program for this machine below node_modules."""

    package: str
    program: str


KNOWN = {
    "claude": Agent("@anthropic-ai/claude-code", "@anthropic-ai/claude-code-*/claude"),
    "gemini": Agent("@google/gemini-cli", "@google/gemini-cli/bundle/gemini.js"),
    "codex": Agent("@openai/codex", "@openai/codex-*/vendor/*/bin/codex"),
    "opencode": Agent("opencode-linux-x64", "opencode-*/bin/opencode"),
    "qwen": Agent("@qwen-code/qwen-code", "@qwen-code/qwen-code/cli-entry.js"),
    "copilot": Agent("@github/copilot-linux-x64", "@github/copilot-*/copilot"),
    "claude-acp": Agent(
        "@agentclientprotocol/claude-agent-acp",
        "@agentclientprotocol/claude-agent-acp/dist/index.js",
    ),
    "claude-older": Agent(
        "claude-code-older",
        "claude-code-older/node_modules/@anthropic-ai/claude-code-*/claude",
    ),
    "codex-older": Agent(
        "codex-older", "codex-older/node_modules/@openai/codex-*/vendor/*/bin/codex"
    ),
    "copilot-older": Agent("copilot-older", "copilot-older/node_modules/@github/copilot-*/copilot"),
}
OLDER = "-older"
"""How the name of an older version ends that is installed beside an agent's newest."""


def pinned_version(agent: str = "claude") -> str:
    """The version of the agent that the tests are written for."""
    manifest = json.loads((AGENTS / "package.json").read_text(encoding="utf-8"))
    wanted = manifest["dependencies"] | manifest["optionalDependencies"]
    return str(wanted[KNOWN[agent].package]).rpartition("@")[2]  # an alias names its package first


def program(agent: str = "claude") -> Path | None:
    """The program of the package that npm chose for this machine; None when missing."""
    found = sorted((AGENTS / "node_modules").glob(KNOWN[agent].program))
    return next((one for one in found if os.access(one, os.X_OK)), None)


def installed_version(agent: str = "claude") -> str | None:
    """The version of the program that is installed; None when there is none."""
    found = program(agent)
    if found is None:
        return None
    package = next(folder for folder in found.parents if (folder / "package.json").exists())
    manifest = json.loads((package / "package.json").read_text(encoding="utf-8"))
    # A platform's package may carry the platform's name behind its version.
    return str(manifest["version"]).partition("-")[0]


@functools.cache
def missing(agent: str = "claude") -> tuple[str, ...]:
    """What the agent's tests lack here, each with what to do about it; empty when all is there."""
    lacks = []
    wanted, found = pinned_version(agent), installed_version(agent)
    if found != wanted:
        package = KNOWN[agent].package
        lacks.append(f"{package} {wanted} (found: {found or 'none'}); run tests/agents/install")
    if shutil.which("tmux") is None:
        lacks.append("tmux; install it with the system's package manager")
    if (refusal := isolation.why_not()) is not None:
        lacks.append(f"network and process namespaces ({refusal})")
    return tuple(lacks)


def insist(agent: str = "claude") -> None:
    """Skip the test where something is missing; fail it where the agents are required."""
    if lacks := missing(agent):
        reason = f"{agent} cannot run here; missing: " + "; ".join(lacks)
        leave_out(reason)
