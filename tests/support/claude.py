"""The real Claude Code with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.agent import Installed, write_json
from tests.support.agent import Run as Ran
from tests.support.isolation import isolated, with_etc
from tests.support.requirements import program
from tests.support.terminal import Terminal

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

_SILENT = frozenset({"DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"})
"""What keeps it from telling a judge on the loopback who has decided."""

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


class Run(Ran[ModelRequest]):
    """What came of one headless run."""

    @property
    def last(self) -> ModelRequest:
        """The last request of the main conversation: it holds all that the model was told."""
        return [request for request in self.requests if request.conversation == "main"][-1]


@dataclass
class Claude(Installed):
    """One installation of Claude Code in a folder of the test's; runs are made from it."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: int = 60
    doors: Mapping[int, str] = field(default_factory=dict)
    apart: Callable[[list[str]], list[str]] = isolated
    etc: Path | None = None

    def __post_init__(self) -> None:
        self.furnish(Path(".claude"))
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir(exist_ok=True)
        write_json(self.home / ".claude.json", self._first_run_answers())
        write_json(self.home / ".claude" / "settings.json", self.settings)

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
        found = program(self.edition or "claude")
        assert found is not None, "Claude Code is not installed; run tests/agents/install"
        own = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TMPDIR": str(self.scratch)}
        own["CLAUDE_CODE_TMPDIR"] = str(self.scratch)
        environment = ENVIRONMENT | own | dict(self.environment)
        command = self.planned([str(found), *arguments], environment, doors=dict(self.doors))
        return self.apart(with_etc(self.etc, command) if self.etc else command)

    def headless(
        self, prompt: str, *, mode: str = "default", extra_args: Sequence[str] = ()
    ) -> Run:
        """Run `claude -p` to its end; raises subprocess.TimeoutExpired when it has none in time."""
        command = self._command(["-p", "--permission-mode", mode, *extra_args, prompt])
        done = self.run_to_its_end(command)
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
        return self.on_a_terminal(self._command(["--permission-mode", mode, *extra_args, *words]))

    def judged(self, judge: Sequence[str], judged: str) -> Terminal:
        """Start a judge that starts Claude Code itself, by `claude` on its PATH; see `judged`."""
        found = program(self.edition or "claude")
        assert found is not None, "Claude Code is not installed; run tests/agents/install"
        commands = self.folder / "commands"
        commands.mkdir()
        starter = commands / "claude"
        launcher = Path(__file__).with_name("judged.py")
        starter.write_text(f'#!/bin/sh\nexec {sys.executable} {launcher} "$@"\n', "utf-8")
        starter.chmod(0o755)
        own = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(commands), os.environ["PATH"]]),
            "TMPDIR": str(self.scratch),
            "CLAUDE_CODE_TMPDIR": str(self.scratch),
            "JUDGED": f"{found}\n{judged}",
        }
        told = {key: value for key, value in ENVIRONMENT.items() if key not in _SILENT}
        return self.on_a_terminal(self.apart(self.planned(judge, told | own)))

    def requests(self) -> list[ModelRequest]:
        """Every request to the model so far."""
        return [
            ModelRequest(one["conversation"], one["body"]) for one in self.noted() if "body" in one
        ]
