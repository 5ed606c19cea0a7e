"""The real Gemini CLI with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.agent import Installed, write_json
from tests.support.agent import Run as Ran
from tests.support.isolation import isolated
from tests.support.plain_desk import CRABHOOK
from tests.support.requirements import program
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    pass

MODEL = "gemini-2.5-flash"
"""Named, so that no other model is asked first which model it shall be."""

ENVIRONMENT = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "LANG": "C.UTF-8",
    "GEMINI_API_KEY": "no-key-at-all",
    "GEMINI_CLI_NO_RELAUNCH": "true",
}

SETTINGS: Mapping[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    "privacy": {"usageStatisticsEnabled": False},
    "ui": {"hideTips": True, "hideBanner": True},
}
"""The state after a person has been through every first-run dialog."""


@dataclass(frozen=True)
class ModelRequest:
    """One request of the agent to its model, as the scripted model recorded it."""

    conversation: str
    body: Mapping[str, Any]

    def results(self) -> list[str]:
        """What the model was told about its tool calls, oldest first: outputs and errors."""
        parts = (part for content in self.body["contents"] for part in content["parts"])
        responses = (part["functionResponse"]["response"] for part in parts if _is_result(part))
        return [str(one.get("error") or one.get("output") or one) for one in responses]

    def texts(self) -> Iterator[str]:
        """Every piece of text in the conversation."""
        for content in self.body["contents"]:
            yield from (part["text"] for part in content["parts"] if "text" in part)


def _is_result(part: Mapping[str, Any]) -> bool:
    return "functionResponse" in part


class Run(Ran[ModelRequest]):
    """What came of one headless run."""

    @property
    def last(self) -> ModelRequest:
        """The last request of the main conversation: it holds all that the model was told."""
        return [request for request in self.requests if request.conversation == "main"][-1]


@dataclass
class Gemini(Installed):
    """One installation of Gemini CLI in a folder of the test's; runs are made from it."""

    trusted: bool = True

    def __post_init__(self) -> None:
        self.furnish(Path(".gemini"))
        self.settings = self.home / ".gemini" / "settings.json"
        trust = "TRUST_FOLDER" if self.trusted else "DO_NOT_TRUST"
        write_json(self.settings.with_name("trustedFolders.json"), {str(self.project): trust})
        write_json(self.settings, SETTINGS | {"security": SETTINGS["security"] | _WATCHED})

    @property
    def environment(self) -> dict[str, str]:
        """What every program of this home runs in, `crabhook install` too."""
        return ENVIRONMENT | {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def install(self, server: str, *options: str) -> None:
        """Install our hooks into the settings, as their user would."""
        subprocess.run(
            [CRABHOOK, "install", "gemini", "--server", server, *options],
            check=True,
            capture_output=True,
            timeout=60,
            env=self.environment,
        )

    def _command(self, arguments: Sequence[str]) -> list[str]:
        """The isolated command line of one run, its plan written down."""
        found = program("gemini")
        assert found is not None, "Gemini CLI is not installed; run tests/agents/install"
        command = ["node", str(found), "--model", MODEL, *arguments]
        return isolated(self.planned(command, self.environment, api="gemini"))

    def headless(self, prompt: str, *, mode: str = "yolo") -> Run:
        """Run `gemini -p` to its end; raises subprocess.TimeoutExpired when it has none in time."""
        done = self.run_to_its_end(self._command(["--approval-mode", mode, "-p", prompt]))
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def terminal(self, prompt: str, *, mode: str = "default") -> Terminal:
        """Start an interactive session with this prompt; `close` ends it, at the latest."""
        return self.on_a_terminal(self._command(["--approval-mode", mode, "-i", prompt]))

    def requests(self) -> list[ModelRequest]:
        """Every request to the model so far."""
        return [
            ModelRequest(one["conversation"], one["body"]) for one in self.noted() if "body" in one
        ]


_WATCHED = {"folderTrust": {"enabled": True}}
