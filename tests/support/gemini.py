"""The real Gemini CLI with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.isolation import isolated
from tests.support.plain_desk import CRABHOOK
from tests.support.requirements import program
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from tests.support.turns import Script

REPOSITORY = Path(__file__).resolve().parents[2]
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


@dataclass(frozen=True)
class Run:
    """What came of one headless run."""

    exit_code: int
    stdout: str
    stderr: str
    requests: list[ModelRequest]

    @property
    def last(self) -> ModelRequest:
        """The last request of the main conversation: it holds all that the model was told."""
        return [request for request in self.requests if request.conversation == "main"][-1]


@dataclass
class Gemini:
    """One installation of Gemini CLI in a folder of the test's; runs are made from it."""

    folder: Path
    script: Script
    trusted: bool = True
    seconds: int = 30
    _terminals: list[Terminal] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        self.project = self.home / "project"
        self.record = self.folder / "requests.jsonl"
        self.settings = self.home / ".gemini" / "settings.json"
        for folder in (self.settings.parent, self.project):
            folder.mkdir(parents=True)
        self.record.touch()
        trust = "TRUST_FOLDER" if self.trusted else "DO_NOT_TRUST"
        _write(self.settings.with_name("trustedFolders.json"), {str(self.project): trust})
        _write(self.settings, SETTINGS | {"security": SETTINGS["security"] | _WATCHED})

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
            timeout=30,
            env=self.environment,
        )

    def _command(self, arguments: Sequence[str]) -> list[str]:
        """The isolated command line of one run, its plan written down."""
        found = program("gemini")
        assert found is not None, "Gemini CLI is not installed; run tests/agents/install"
        plan = self.folder / f"plan-{uuid.uuid4().hex[:8]}.json"
        _write(
            plan,
            {
                "api": "gemini",
                "command": ["node", str(found), "--model", MODEL, *arguments],
                "folder": str(self.project),
                "environment": self.environment,
                "script": json.loads(self.script.to_json()),
                "record": str(self.record),
                "seconds": self.seconds,
            },
        )
        launcher = [sys.executable, "-m", "tests.support.launcher", str(plan)]
        return isolated(["env", f"--chdir={REPOSITORY}", *launcher])

    def headless(self, prompt: str, *, mode: str = "yolo") -> Run:
        """Run `gemini -p` to its end; raises subprocess.TimeoutExpired when it has none in time."""
        done = subprocess.run(
            self._command(["--approval-mode", mode, "-p", prompt]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.seconds + 5,
            check=False,
            env={"PATH": os.environ["PATH"]},
        )
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def terminal(self, prompt: str, *, mode: str = "default") -> Terminal:
        """Start an interactive session with this prompt; `close` ends it, at the latest."""
        command = self._command(["--approval-mode", mode, "-i", prompt])
        terminal = Terminal(command, {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"})
        self._terminals.append(terminal)
        return terminal

    def requests(self) -> list[ModelRequest]:
        """Every request to the model so far."""
        # Not splitlines: it also splits at U+2028 and its like, which stand in JSON as they are.
        lines = self.record.read_text(encoding="utf-8").split("\n")[:-1]
        noted = map(json.loads, lines)
        return [
            ModelRequest(line["conversation"], line["body"]) for line in noted if "body" in line
        ]

    def close(self) -> None:
        """End every terminal that is still open."""
        while self._terminals:
            self._terminals.pop().close()


_WATCHED = {"folderTrust": {"enabled": True}}


def _write(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
