"""The real OpenCode with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.agent import Installed, write_json
from tests.support.agent import Run as Ran
from tests.support.isolation import isolated
from tests.support.qwen import ModelRequest
from tests.support.requirements import program
from tests.support.terminal import Terminal
from tests.support.turns import ToolUse

ENVIRONMENT = {
    "TERM": "xterm-256color",
    "LANG": "C.UTF-8",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    # Without these it waits for npm's registry, as it wants to install its plugins' library.
    "npm_config_offline": "true",
    "npm_config_fetch_retries": "0",
}

_PROVIDER = {
    "npm": "@ai-sdk/openai-compatible",
    "name": "fake",
    "options": {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "no-key-at-all"},
    "models": {"m": {"name": "m", "limit": {"context": 100_000, "output": 4000}}},
}
SETTINGS: Mapping[str, Any] = {
    "$schema": "https://opencode.ai/config.json",
    "autoupdate": False,
    "share": "disabled",
    "model": "fake/m",
    "small_model": "fake/m",
    "provider": {"fake": _PROVIDER},
}


def shell(command: str) -> ToolUse:
    """The model runs a command."""
    return ToolUse("bash", {"command": command, "description": "Run a command"})


class Run(Ran[ModelRequest]):
    """What came of one headless run."""


@dataclass
class OpenCode(Installed):
    """One installation of OpenCode in a folder of the test's; runs are made from it.

    `mcp`: the command of each MCP server, by the server's name.
    """

    permission: Mapping[str, str] = field(default_factory=dict)
    mcp: Mapping[str, Sequence[str]] = field(default_factory=dict)
    more_environment: Mapping[str, str] = field(default_factory=dict)
    doors: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.furnish(Path(".config/opencode"))
        self.settings = self.home / ".config" / "opencode" / "opencode.json"
        servers = {
            name: {"type": "local", "command": list(command), "enabled": True}
            for name, command in self.mcp.items()
        }
        own = {"permission": dict(self.permission), "mcp": servers}
        write_json(self.settings, {**SETTINGS, **own})
        subprocess.run(["git", "init", "-q", str(self.project)], check=True, timeout=60)

    @property
    def plugin(self) -> Path:
        """Where our plugin is written to."""
        return self.settings.with_name("plugins") / "crabhook.js"

    @property
    def environment(self) -> dict[str, str]:
        """What every program of this home runs in, `crabhook install` too."""
        own = {"HOME": str(self.home), "TMPDIR": str(self.folder), "PATH": os.environ["PATH"]}
        return ENVIRONMENT | own | dict(self.more_environment)

    def crabhook(self, *words: str) -> str:
        """Run a command of crabhook, as its user would; return what it says."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "crabhook", *words],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        return done.stdout + done.stderr

    def _command(self, command: Sequence[str]) -> list[str]:
        """The isolated command line of one run, its plan written down."""
        plan = self.planned(command, self.environment, api="qwen", doors=dict(self.doors))
        return isolated(plan)

    @property
    def program(self) -> str:
        """The program itself."""
        found = program("opencode")
        assert found is not None, "OpenCode is not installed; run tests/agents/install"
        return str(found.resolve())

    def headless(self, prompt: str) -> Run:
        """Run `opencode run` to its end; raises subprocess.TimeoutExpired without one."""
        return self._ended([self.program, "run", prompt])

    def driven(self, way: str, prompt: str) -> Run:
        """Have a double of an editor or of a person's client drive a session to its end."""
        driver = [sys.executable, str(Path(__file__).with_name("opencode_driver.py")), way]
        return self._ended([*driver, self.program, str(self.project), prompt])

    def _ended(self, command: Sequence[str]) -> Run:
        done = self.run_to_its_end(self._command(command))
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def terminal(self, prompt: str) -> Terminal:
        """Start an interactive session; `close` ends it, at the latest."""
        return self.on_a_terminal(self._command([self.program, "--prompt", prompt]))

    def requests(self) -> list[ModelRequest]:
        """Every request of the main conversation to the model so far."""
        return [ModelRequest(noted["body"]) for noted in self.noted() if noted["conversation"] == "main"]  # fmt: skip
