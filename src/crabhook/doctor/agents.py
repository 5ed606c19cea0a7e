"""The agents that the doctor knows, a row each."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from crabhook.install import agents as installed
from crabhook.install.agents import Agent


@dataclass(frozen=True, slots=True)
class Row:
    """What the doctor has to know of one agent, beside how crabhook is installed into it.

    `unit`: seconds in one unit of a registered timeout.  `timeout`: seconds
    where none is registered.  `decided`: the events on which a hook can
    change or decide a call.  `versions`: those that the conformance runs were
    made with.  `above`: settings of the machine's, which count before all
    others.  `beside`: a file next to its settings that has a say, too, and
    `switch`: how a trouble there begins that switches every hook off.
    `once`: hooks that are the same in two files run once.
    """

    name: str
    agent: Agent
    unit: float
    timeout: float
    decided: frozenset[str]
    versions: tuple[str, ...]
    above: tuple[Path, ...] = ()
    beside: str = ""
    switch: str = "\0"
    once: bool = False


_MAC = sys.platform == "darwin"
_SHARED = Path("/Library/Application Support" if _MAC else "/etc")

ROWS: Mapping[str, Row] = {
    row.name: row
    for row in (
        Row(
            "claude",
            installed.AGENTS["claude"],
            unit=1,
            timeout=600,
            decided=frozenset({"PreToolUse", "PermissionRequest"}),
            versions=("2.1.330",),
            once=True,
        ),
        Row(
            "gemini",
            installed.AGENTS["gemini"],
            unit=0.001,
            timeout=60,
            decided=frozenset({"BeforeTool"}),
            versions=("0.61.0",),
            above=(_SHARED / ("GeminiCli" if _MAC else "gemini-cli") / "settings.json",),
        ),
        Row(
            "codex",
            installed.AGENTS["codex"],
            unit=1,
            timeout=600,
            decided=frozenset({"PreToolUse", "PermissionRequest"}),
            versions=("0.169.0",),
            beside="config.toml",
            switch="features.hooks is false",
        ),
    )
}

_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")


def version_in(said: str) -> str:
    """Return the version in what a program says of itself; empty where there is none."""
    found = _VERSION.search(said)
    return found[0] if found else ""
