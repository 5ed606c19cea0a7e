"""How each agent is started in each of its modes, and what its model calls."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from crabhook.model.card import Stance
from tests.support.agent import Installed, Run
from tests.support.claude import Claude
from tests.support.codex import Codex, beyond_the_sandbox
from tests.support.codex import shell as codex_shell
from tests.support.copilot import Copilot
from tests.support.copilot import shell as copilot_shell
from tests.support.gemini import Gemini
from tests.support.opencode import OpenCode
from tests.support.plain_desk import CRABHOOK
from tests.support.qwen import Qwen
from tests.support.qwen import shell as qwen_shell
from tests.support.terminal import Terminal
from tests.support.turns import ToolUse, bash
from tests.support.turns import shell as gemini_shell

Way = Callable[[Any], "Run[Any] | Terminal"]
"""Starts a session: returns its end, or the terminal that it runs in."""

Call = Callable[[str], ToolUse]
"""A call of the model, which has the name of a cell in its input."""

PROMPT = "go on"
ANSWERED_THERE = "answered there"
"""How a mode ends in which a double of the agent's own user says yes."""


@dataclass(frozen=True)
class Kind:
    """An agent: its maker, its ways by mode, and its calls by kind.

    `dialogs`: the text by which one of its own dialogs is known, and the key that says yes to it.
    `over`: the event that ends a turn.
    """

    make: Callable[..., Installed]
    ways: Mapping[str, Way]
    calls: Mapping[str, Call]
    over: str
    dialogs: Mapping[str, str] = field(default_factory=dict)


def touch(shell: Callable[[str], ToolUse]) -> Call:
    """Return the call that makes the file of a cell."""
    return lambda name: shell(f"touch {name}")


def failing(shell: Callable[[str], ToolUse]) -> Call:
    """Return the call that makes the file of a cell and ends with another code than 0."""
    return lambda name: shell(f"touch {name}; cat nothing-of-{name}")


def script(shell: Callable[[str], ToolUse]) -> Call:
    """Return the call that makes the file of a cell by a program that may do anything."""
    return lambda name: shell(f"sh -c 'touch {name}'")


def question(name: str) -> Mapping[str, Any]:
    """Return a question as most agents take it."""
    options = [{"label": label, "description": label} for label in ("Red", "Blue")]
    asked = {"question": f"Which colour has {name}?", "header": "Colour", "options": options}
    return {"questions": [asked | {"multiSelect": False}]}


def _claude(mode: str) -> Way:
    return lambda agent: agent.headless(PROMPT, mode=mode)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "claude": Kind(
            Claude,
            {
                "terminal": lambda agent: agent.terminal(PROMPT),
                **{
                    f"-p {mode}": _claude(mode)
                    for mode in (
                        "default",
                        "acceptEdits",
                        "plan",
                        "auto",
                        "dontAsk",
                        "bypassPermissions",
                    )
                },
            },
            {
                "shell": touch(bash),
                "script": script(bash),
                "failing": failing(bash),
                "question": lambda name: ToolUse("AskUserQuestion", question(name)),
            },
            "Stop",
            {"Do you want to": "Enter"},
        ),
        "codex": Kind(
            Codex,
            {
                "exec": lambda agent: agent.headless(PROMPT),
                "terminal": lambda agent: agent.terminal(PROMPT),
            },
            {"shell": touch(codex_shell), "beyond": touch(beyond_the_sandbox)},
            "Stop",
            {"Would you like to run the following command?": "Enter"},
        ),
        "copilot": Kind(
            Copilot,
            {
                "-p": lambda agent: agent.headless(PROMPT),
                "-p --allow-all-tools": lambda agent: agent.headless(PROMPT, "--allow-all-tools"),
                "--acp": lambda agent: agent.in_an_editor(PROMPT),
                "terminal": lambda agent: agent.typed(PROMPT),
            },
            {
                "shell": touch(copilot_shell),
                "unknown": lambda name: ToolUse("no_such_tool", {"text": name}),
            },
            "Stop",
            {"\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} 1. Yes": "Enter"},
        ),
        "gemini": Kind(
            Gemini,
            {
                "-p yolo": lambda agent: agent.headless(PROMPT),
                "terminal": lambda agent: agent.terminal(PROMPT),
            },
            {"shell": touch(gemini_shell)},
            "AfterAgent",
            {"Allow execution": "Enter"},
        ),
        "qwen": Kind(
            Qwen,
            {
                "-p yolo": lambda agent: agent.headless(PROMPT),
                "terminal": lambda agent: agent.terminal(PROMPT),
            },
            {
                "shell": touch(qwen_shell),
                "failing": failing(qwen_shell),
                "question": lambda name: ToolUse("ask_user_question", question(name)),
            },
            "Stop",
            {"Allow execution": "Enter"},
        ),
        "opencode": Kind(
            lambda *where, **more: OpenCode(*where, permission={"bash": "ask"}, **more),
            {
                "run": lambda agent: agent.headless(PROMPT),
                "serve": lambda agent: agent.driven("serve", PROMPT),
                f"serve, {ANSWERED_THERE}": lambda agent: agent.driven("serve-answers", PROMPT),
                "acp": lambda agent: agent.driven("acp", PROMPT),
            },
            {
                "shell": touch(copilot_shell),
                "question": lambda name: ToolUse("question", question(name)),
            },
            "session.idle",
        ),
    }
)


def install(platform: str, agent: Installed, stance: Stance, *options: str) -> None:
    """Install our hooks as the agent's user would."""
    subprocess.run(
        [CRABHOOK, "install", platform, f"--{stance.value}", *options],
        check=True,
        capture_output=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(agent.home), "TMPDIR": str(agent.folder)},
    )


def made(agent: Installed) -> frozenset[str]:
    """Return the names of the files in the agent's project."""
    return frozenset(path.name for path in Path(agent.project).iterdir())
