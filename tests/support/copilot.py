"""The real GitHub Copilot CLI with a home, a project and a scripted model, off the network."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
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

CACHE = AGENTS / "node_modules" / ".copilot-cache"
"""Where Copilot unpacks itself at its first start: 235 MB, which all runs share."""

ENVIRONMENT = {
    "TERM": "xterm-256color",
    "LANG": "C.UTF-8",
    "COPILOT_OFFLINE": "true",
    "COPILOT_MODEL": "scripted",
    "COPILOT_AUTO_UPDATE": "false",
    "XDG_CACHE_HOME": str(CACHE),
}

EDITOR = Path(__file__).with_name("acp_editor.py")


def shell(command: str, **more: Any) -> ToolUse:
    """The model runs a command."""
    return ToolUse("bash", {"command": command, "description": "Try it", **more})


@dataclass(frozen=True)
class ModelRequest:
    """One request of the agent to its model, as the scripted model recorded it."""

    body: Mapping[str, Any]

    def results(self) -> list[str]:
        """What the model was told about its tool calls, oldest first."""
        told = (message for message in self.body["messages"] if message["role"] == "tool")
        return [str(message["content"]) for message in told]


class Run(Ran[ModelRequest]):
    """What came of one headless run."""


@dataclass
class Copilot(Installed):
    """One installation of GitHub Copilot CLI in a folder of the test's; runs are made from it."""

    def __post_init__(self) -> None:
        self.furnish(Path(".copilot"))
        self.hooks = self.home / ".copilot" / "hooks" / "crabhook.json"
        trusted = [str(self.project)]
        write_json(
            self.home / ".copilot" / "config.json",
            {"trusted_folders": trusted, "trustedFolders": trusted},
        )

    @property
    def environment(self) -> dict[str, str]:
        """What every program of this home runs in, `crabhook install` too."""
        own = {"HOME": str(self.home), "TMPDIR": str(self.folder), "PATH": os.environ["PATH"]}
        return ENVIRONMENT | own

    def install(self, server: str, *options: str) -> None:
        """Install our hooks into a file of their own, as their user would."""
        self._crabhook("install", "copilot", "--server", server, *options)

    def uninstall(self) -> None:
        """Take our hooks out again."""
        self._crabhook("uninstall", "copilot")

    def _crabhook(self, *words: str) -> None:
        subprocess.run(
            [CRABHOOK, *words], check=True, capture_output=True, timeout=60, env=self.environment
        )

    def _command(self, *command: str) -> list[str]:
        """The isolated command line of one run, its plan written down."""
        return isolated(self.planned(command, self.environment, api="copilot"))

    @property
    def _program(self) -> str:
        found = program(self.edition or "copilot")
        assert found is not None, "Copilot is not installed; run tests/agents/install"
        return str(found.resolve())

    def headless(self, prompt: str, *options: str) -> Run:
        """Run `copilot -p` to its end; raises subprocess.TimeoutExpired without one."""
        done = self.run_to_its_end(self._command(self._program, *options, "-p", prompt))
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def in_an_editor(self, prompt: str) -> Run:
        """Run `copilot --acp` under an editor's double that refuses all it is asked itself."""
        words = [sys.executable, str(EDITOR), str(self.project), prompt, self._program, "--acp"]
        done = self.run_to_its_end(self._command(*words))
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def terminal(self, prompt: str, *options: str) -> Terminal:
        """Start an interactive session that asks its user; `close` ends it, at the latest."""
        return self.on_a_terminal(self._command(self._program, *options, "-i", prompt))

    def typed(self, prompt: str) -> Terminal:
        """Start one whose user types the prompt: 1.0.66 does not send what `-i` has, offline."""
        terminal = self.on_a_terminal(self._command(self._program))
        terminal.wait_for("/ commands")
        terminal.submit(prompt)
        return terminal

    def requests(self) -> list[ModelRequest]:
        """Every request of the main conversation to the model so far."""
        return [ModelRequest(noted["body"]) for noted in self.noted() if noted["conversation"] == "main"]  # fmt: skip
