"""The real Claude Code with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.isolation import isolated, with_etc
from tests.support.requirements import program
from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from tests.support.turns import Script

REPOSITORY = Path(__file__).resolve().parents[2]
KEY = "sk-ant-api03-no-key-at-all-but-long-enough"
"""Any text will do; its last twenty characters are how Claude Code remembers that it was approved."""

ENVIRONMENT = {
    "TERM": "xterm-256color",
    "LANG": "C.UTF-8",
    "IS_SANDBOX": "1",
    "ANTHROPIC_API_KEY": KEY,
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
}

Hook = Mapping[str, Any]
"""One handler as Claude Code's settings have it: type, command, timeout, onFailure ..."""


def command_hook(command: str, **more: object) -> Hook:
    """A command hook; `more` are further keys of the handler, such as timeout or onFailure."""
    return {"type": "command", "command": command, **more}


def hook_settings(hooks: Mapping[str, Sequence[Hook]]) -> dict[str, Any]:
    """Settings that run these handlers on every occurrence of their event."""
    return {"hooks": {event: [{"hooks": list(handlers)}] for event, handlers in hooks.items()}}


@dataclass(frozen=True)
class ModelRequest:
    """One request of the agent to its model, as the scripted model recorded it."""

    conversation: str
    body: Mapping[str, Any]

    def texts(self) -> Iterator[str]:
        """Every piece of text in the messages: prompts, tool results, reminders."""
        for message in self.body["messages"]:
            yield from _texts(message["content"])

    def tool_results(self) -> list[str]:
        """What the model was told about its tool calls, oldest first."""
        blocks = (
            block
            for message in self.body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        )
        results = (block for block in blocks if block["type"] == "tool_result")
        return ["\n".join(_texts(result["content"])) for result in results]


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result":
            yield from _texts(block.get("content", ""))


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
class Claude:
    """One installation of Claude Code in a folder of the test's; runs are made from it."""

    folder: Path
    script: Script
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: int = 45
    doors: Mapping[int, str] = field(default_factory=dict)
    etc: Path | None = None
    _terminals: list[Terminal] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        self.project = self.home / "project"
        self.record = self.folder / "requests.jsonl"
        self.scratch = self.folder / "scratch"
        for folder in (self.home / ".claude", self.project, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)
        self.record.touch()
        _write(self.home / ".claude.json", self._first_run_answers())
        _write(self.home / ".claude" / "settings.json", self.settings)

    def _first_run_answers(self) -> dict[str, Any]:
        """The state after a person has been through every first-run dialog."""
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        return {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "numStartups": 3,
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.project): trusted},
        }

    def _command(self, arguments: Sequence[str]) -> list[str]:
        """The isolated command line of one run, its plan written down."""
        found = program()
        assert found is not None, "Claude Code is not installed; run tests/agents/install"
        plan = self.folder / f"plan-{uuid.uuid4().hex[:8]}.json"
        own = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TMPDIR": str(self.scratch)}
        own["CLAUDE_CODE_TMPDIR"] = str(self.scratch)
        _write(
            plan,
            {
                "command": [str(found), *arguments],
                "folder": str(self.project),
                "environment": ENVIRONMENT | own | dict(self.environment),
                "script": json.loads(self.script.to_json()),
                "record": str(self.record),
                "seconds": self.seconds,
                "doors": dict(self.doors),
            },
        )
        launcher = [sys.executable, "-m", "tests.support.launcher", str(plan)]
        command = ["env", f"--chdir={REPOSITORY}", *launcher]
        return isolated(with_etc(self.etc, command) if self.etc else command)

    def headless(
        self, prompt: str, *, mode: str = "default", extra_args: Sequence[str] = ()
    ) -> Run:
        """Run `claude -p` to its end; raises subprocess.TimeoutExpired when it has none in time."""
        command = self._command(["-p", "--permission-mode", mode, *extra_args, prompt])
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.seconds + 5,
            check=False,
            env={"PATH": os.environ["PATH"]},
        )
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def as_program(self, file: Path, prompt: str) -> None:
        """Write a program that makes one headless run with this prompt, whatever it is told."""
        command = shlex.join(self._command(["-p", prompt]))
        file.write_text(f"#!/bin/sh\nexec {command} < /dev/null\n", encoding="utf-8")
        file.chmod(0o755)

    def terminal(
        self, prompt: str | None = None, *, mode: str = "default", extra_args: Sequence[str] = ()
    ) -> Terminal:
        """Start an interactive session; `close` ends it, and so does the end of the test."""
        words = [] if prompt is None else [prompt]
        command = self._command(["--permission-mode", mode, *extra_args, *words])
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


def _write(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
