"""The program as earlier commits had it, installed from the wheels that `make baseline` keeps.

No network is needed: a wheel is unpacked by pip into a folder of its own, and
what it depends on comes from the environment the tests run in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.client import finished
from tests.support.plain_desk import CRABHOOK

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = Path(__file__).parents[1] / "older"
WHEELS = sorted(KEPT.glob("*/*.whl"))
"""The wheels, each in a folder named after its commit."""


@dataclass(frozen=True)
class Program:
    """A crabhook that can be started: its command, and what must be in its environment."""

    name: str
    command: str
    environment: Mapping[str, str]

    def run(self, *words: str, home: Path) -> str:
        """Run a subcommand in this home; return what it printed."""
        return subprocess.run(
            [self.command, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env=_at(home) | self.environment,
        ).stdout

    def hook(self, home: Path, address: str, event: str, *options: str) -> Hook:
        """Install Claude Code's hooks as its owner does; return the one for this event."""
        self.install(home, address, *options)
        return self.installed(home, event)

    def install(self, home: Path, address: str, *options: str) -> None:
        """Install Claude Code's hooks in this home as its owner does."""
        self.run("install", "claude", "--server", address, *options, home=home)

    def installed(self, home: Path, event: str) -> Hook:
        """Return the hook that was installed in this home for this event."""
        settings = json.loads((home / ".claude" / "settings.json").read_text(encoding="utf-8"))
        (group,) = settings["hooks"][event]
        (entry,) = group["hooks"]
        return Hook([entry["command"], *entry["args"]], home)


@dataclass(frozen=True)
class Hook:
    """An installed hook: the command in the agent's settings, and the agent's home."""

    command: list[str]
    home: Path

    def start(self, payload: bytes) -> Started:
        """Start it as the agent does, and give it its input."""
        started = Started(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_at(self.home),
        )
        assert started.stdin is not None
        started.stdin.write(payload)
        started.stdin.close()
        started.stdin = None
        return started


class Started(subprocess.Popen[bytes]):
    """A hook that has been given its input and now asks."""

    def answer(self, seconds: float = 60) -> dict[str, Any]:
        """Wait for the end; return the JSON it printed, empty when it printed nothing."""
        told = finished(self, seconds)
        assert told.code == 0, told.stderr
        parsed: dict[str, Any] = json.loads(told.stdout or b"{}")
        return parsed


TODAY = Program("today", CRABHOOK, {})


def unpack(wheel: Path, folder: Path) -> Program:
    """Install a kept wheel into `folder`, and nothing that it depends on."""
    where = ["--no-deps", "--no-index", "--no-compile", "--target", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *where, str(wheel)],
        check=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    program = str(folder / "bin" / "crabhook")
    return Program(wheel.parent.name, program, {"PYTHONPATH": str(folder)})


def _at(home: Path) -> dict[str, str]:
    place = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **place}
