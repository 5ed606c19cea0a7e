"""The real Codex CLI with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.agent import Installed
from tests.support.agent import Run as Ran
from tests.support.isolation import isolated
from tests.support.plain_desk import CRABHOOK
from tests.support.requirements import program
from tests.support.terminal import Terminal
from tests.support.turns import ToolUse

if TYPE_CHECKING:
    pass

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


class Run(Ran[ModelRequest]):
    """What came of one headless run."""

    @property
    def told(self) -> str:
        """All that the model was told about its tool calls."""
        return "\n".join(self.requests[-1].tool_results())


@dataclass
class Codex(Installed):
    """One installation of Codex in a folder of the test's; runs are made from it."""

    def __post_init__(self) -> None:
        self.furnish(Path(".codex"))
        self.settings = self.home / ".codex"
        configuration = CONFIGURATION.replace("{project}", str(self.project))
        (self.settings / "config.toml").write_text(configuration, encoding="utf-8")

    def _command(self, arguments: Sequence[str]) -> list[str]:
        """The isolated command line of one run, its plan written down."""
        found = program(self.edition or "codex")
        assert found is not None, "Codex is not installed; run tests/agents/install"
        own = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        command = ["/bin/sh", "-c", WITH_MODEL, str(found), *arguments]
        return isolated(self.planned(command, ENVIRONMENT | own, api="codex"))

    def headless(self, prompt: str, *, unreviewed: bool = True) -> Run:
        """Run `codex exec` to its end; raises subprocess.TimeoutExpired when it has none in time.

        Nobody can approve anything there; commands may write in the project.
        `unreviewed`: hooks run that nobody has reviewed.
        """
        flags = ["--skip-git-repo-check", "--sandbox", "workspace-write"]
        flags += [UNREVIEWED] if unreviewed else []
        done = self.run_to_its_end(self._command(["exec", *flags, prompt]))
        return Run(done.returncode, done.stdout, done.stderr, self.requests())

    def terminal(self, prompt: str | None = None, *, unreviewed: bool = True) -> Terminal:
        """Start an interactive session that asks before it leaves its sandbox."""
        flags = ["--ask-for-approval", "on-request", "--sandbox", "read-only"]
        flags += [UNREVIEWED] if unreviewed else []
        words = [] if prompt is None else [prompt]
        return self.on_a_terminal(self._command([*flags, *words]))

    def requests(self) -> list[ModelRequest]:
        """Every request of the main conversation to the model so far."""
        return [ModelRequest(one["body"]) for one in self.noted() if one["conversation"] == "main"]


def install(agent: Codex, address: str, *options: str) -> str:
    """Install our hooks as the agent's user would; return what they are told."""
    done = subprocess.run(
        [CRABHOOK, "install", "codex", "--server", address, *options],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(agent.home)},
    )
    return done.stdout + done.stderr
