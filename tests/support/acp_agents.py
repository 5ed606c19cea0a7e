"""The real agents that speak ACP, each with a home, a project and a scripted model, off the network.

An editor's double speaks to them through `crabhook acp`, or without it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.agent import Installed, write_json
from tests.support.claude import ENVIRONMENT, Claude
from tests.support.editor import Editor
from tests.support.gemini import MODEL, Gemini
from tests.support.isolation import isolated
from tests.support.plain_desk import CRABHOOK
from tests.support.qwen import NODE, Qwen, _text
from tests.support.requirements import program
from tests.support.turns import ToolUse

ADAPTER = "claude-acp"
"""The program that speaks ACP for Claude Code, and starts it."""
USUAL = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
_OPENCODE: Mapping[str, Any] = {
    "$schema": "https://opencode.ai/config.json",
    "autoupdate": False,
    "share": "disabled",
    "model": "fake/m",
    "small_model": "fake/m",
    "provider": {
        "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "fake",
            "options": {"baseURL": "{env:SCRIPTED_MODEL}", "apiKey": "x"},
            "models": {"m": {"name": "m", "limit": {"context": 100000, "output": 4000}}},
        }
    },
    "permission": {"bash": "ask", "edit": "ask", "webfetch": "ask", "external_directory": "ask"},
}


@dataclass
class Copilot(Installed):
    """One installation of GitHub Copilot CLI in a folder of the test's."""

    def __post_init__(self) -> None:
        self.furnish(Path(".copilot"))
        trusted = [str(self.project)]
        write_json(
            self.home / ".copilot" / "config.json",
            {"trusted_folders": trusted, "trustedFolders": trusted},
        )

    @property
    def environment(self) -> dict[str, str]:
        """What its programs run in."""
        own = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        offline = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}
        cache = {"XDG_CACHE_HOME": str(self.folder / "cache"), "COPILOT_MODEL": "m"}
        return USUAL | own | offline | cache


@dataclass
class OpenCode(Installed):
    """One installation of OpenCode in a folder of the test's."""

    def __post_init__(self) -> None:
        self.furnish(Path(".config", "opencode"))
        write_json(self.home / ".config" / "opencode" / "opencode.json", _OPENCODE)

    @property
    def environment(self) -> dict[str, str]:
        """What its programs run in."""
        own = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        quiet = dict.fromkeys(("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD"), "1")
        offline = {"npm_config_offline": "true", "npm_config_fetch_retries": "0"}
        return (
            USUAL | own | offline | {f"OPENCODE_DISABLE_{key}": one for key, one in quiet.items()}
        )


def bash(command: str) -> ToolUse:
    """The model runs a command, in Copilot and in OpenCode."""
    return ToolUse("bash", {"command": command, "description": "Make the file"})


def _node() -> str:
    return str(NODE) if NODE.exists() else "node"


def environment_of(agent: Claude) -> dict[str, str]:
    """What Claude Code and its adapter run in: the adapter would bring a program of its own."""
    found = program()
    assert found is not None
    own = {"HOME": str(agent.home), "PATH": os.environ["PATH"], "TMPDIR": str(agent.scratch)}
    return ENVIRONMENT | own | {"CLAUDE_CODE_EXECUTABLE": str(found.resolve())}


def command_of(agent: Installed) -> list[str]:
    """The command that starts an agent in its ACP mode."""
    match agent:
        case Claude():
            adapter = program(ADAPTER)
            assert adapter is not None
            return [_node(), str(adapter.resolve())]
        case Gemini():
            return [_node(), str(program("gemini")), "--acp", "-m", MODEL]
        case Qwen():
            entry = program("qwen")
            assert entry is not None
            return [_node(), str(entry.resolve()), "--acp", "--approval-mode", "default"]
        case Copilot():
            return [str(program("copilot")), "--acp"]
        case OpenCode():
            return [str(program("opencode")), "acp"]
    raise AssertionError(agent)


def edited(agent: Installed, api: str, environment: Mapping[str, str], *proxy: str) -> Editor:
    """An editor's double before an agent; `proxy` are the options of the proxy between them."""
    command = command_of(agent)
    if proxy:
        command = [CRABHOOK, "acp", *proxy, "--", *command]
    isolation = isolated(agent.planned(command, environment, api=api))
    return Editor(isolation, environment={"PATH": os.environ["PATH"]})


def told(agent: Installed) -> list[str]:
    """What the model was told about its calls so far, by an API of chat completions."""
    results: list[str] = []
    for noted in agent.noted():
        if noted.get("conversation") == "main":
            said = (one for one in noted["body"]["messages"] if one["role"] == "tool")
            results = [_text(one["content"]) for one in said]
    return results
