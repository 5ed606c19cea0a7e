"""The real Codex CLI with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.isolation import isolated
from tests.support.plain_desk import CRABHOOK
from tests.support.requirements import program
from tests.support.terminal import Terminal
from tests.support.turns import ToolUse

if TYPE_CHECKING:
    from tests.support.turns import Script

REPOSITORY = Path(__file__).resolve().parents[2]

ENVIRONMENT = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}

CONFIGURATION = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:1/told-by-the-launcher"
wire_api = "responses"

[analytics]
enabled = false

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[projects."{project}"]
trust_level = "trusted"
"""

# The launcher tells the address in a variable; Codex reads it from its settings.
WITH_MODEL = 'exec "$0" -c model_providers.scripted.base_url="\\"$SCRIPTED_MODEL/v1\\"" "$@"'

UNREVIEWED = "--dangerously-bypass-hook-trust"
"""Hooks run without the review that a person would give them in `/hooks`."""


def shell(command: str, **more: str) -> ToolUse:
    """The model runs a command in Codex's sandbox."""
    return ToolUse("exec_command", {"cmd": command, **more})


def beyond_the_sandbox(command: str) -> ToolUse:
    """The model asks to run a command outside the sandbox, which Codex asks its user about."""
    return shell(
        command, sandbox_permissions="require_escalated", justification="May I make the file?"
    )


@dataclass(frozen=True)
class ModelRequest:
    """One request of the agent to its model, as the scripted model recorded it."""

    body: Mapping[str, Any]

    def tool_results(self) -> list[str]:
        """What the model was told about its tool calls, oldest first."""
        kinds = ("function_call_output", "custom_tool_call_output")
        outputs = (item["output"] for item in self.body["input"] if item["type"] in kinds)
        return [one if isinstance(one, str) else json.dumps(one) for one in outputs]

    def texts(self, role: str) -> list[str]:
        """What was said in this role: user, developer, assistant."""
        return [
            part["text"]
            for item in self.body["input"]
            if item["type"] == "message" and item["role"] == role
            for part in item["content"]
        ]


@dataclass(frozen=True)
class Run:
    """What came of one headless run."""

    exit_code: int
    stdout: str
    stderr: str
    requests: list[ModelRequest]

    @property
    def told(self) -> str:
        """All that the model was told about its tool calls."""
        return "\n".join(self.requests[-1].tool_results())


@dataclass
class Codex:
    """One installation of Codex in a folder of the test's; runs are made from it."""

    folder: Path
    script: Script
    seconds: int = 30
    _terminals: list[Terminal] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        self.settings = self.home / ".codex"
        self.project = self.home / "project"
        self.record = self.folder / "requests.jsonl"
        for folder in (self.settings, self.project):
            folder.mkdir(parents=True, exist_ok=True)
        self.record.touch()
        configuration = CONFIGURATION.replace("{project}", str(self.project))
        (self.settings / "config.toml").write_text(configuration, encoding="utf-8")

    def _command(self, arguments: Sequence[str]) -> list[str]:
        """The isolated command line of one run, its plan written down."""
        found = program("codex")
        assert found is not None, "Codex is not installed; run tests/agents/install"
        plan = self.folder / f"plan-{uuid.uuid4().hex[:8]}.json"
        own = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        _write(
            plan,
            {
                "api": "codex",
                "command": ["/bin/sh", "-c", WITH_MODEL, str(found), *arguments],
                "folder": str(self.project),
                "environment": ENVIRONMENT | own,
                "script": json.loads(self.script.to_json()),
                "record": str(self.record),
                "seconds": self.seconds,
            },
        )
        launcher = [sys.executable, "-m", "tests.support.launcher", str(plan)]
        return isolated(["env", f"--chdir={REPOSITORY}", *launcher])

    def headless(self, prompt: str, *, unreviewed: bool = True) -> Run:
        """Run `codex exec` to its end; raises subprocess.TimeoutExpired when it has none in time.

        Nobody can approve anything there; commands may write in the project.
        `unreviewed`: hooks run that nobody has reviewed.
        """
        flags = ["--skip-git-repo-check", "--sandbox", "workspace-write"]
        flags += [UNREVIEWED] if unreviewed else []
        done = subprocess.run(
            self._command(["exec", *flags, prompt]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.seconds + 5,
            check=False,
            env={"PATH": os.environ["PATH"]},
        )
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def terminal(self, prompt: str | None = None, *, unreviewed: bool = True) -> Terminal:
        """Start an interactive session that asks before it leaves its sandbox."""
        flags = ["--ask-for-approval", "on-request", "--sandbox", "read-only"]
        flags += [UNREVIEWED] if unreviewed else []
        words = [] if prompt is None else [prompt]
        command = self._command([*flags, *words])
        terminal = Terminal(command, {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"})
        self._terminals.append(terminal)
        return terminal

    def requests(self) -> list[ModelRequest]:
        """Every request of the main conversation to the model so far."""
        # Not splitlines: it also splits at U+2028 and its like, which stand in JSON as they are.
        lines = self.record.read_text(encoding="utf-8").split("\n")[:-1]
        noted = map(json.loads, lines)
        return [ModelRequest(line["body"]) for line in noted if line["conversation"] == "main"]

    def close(self) -> None:
        """End every terminal that is still open."""
        while self._terminals:
            self._terminals.pop().close()


def install(agent: Codex, address: str, *options: str) -> str:
    """Install our hooks as the agent's user would; return what they are told."""
    done = subprocess.run(
        [CRABHOOK, "install", "codex", "--server", address, *options],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
        env={"PATH": os.environ["PATH"], "HOME": str(agent.home)},
    )
    return done.stdout + done.stderr


def _write(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
