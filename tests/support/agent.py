"""A real agent with a home, a project and a scripted model of its own, off the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tests.support.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.support.turns import Script

REPOSITORY = Path(__file__).resolve().parents[2]

R = TypeVar("R")
"""A request of that agent to its model."""


@dataclass(frozen=True)
class Run(Generic[R]):
    """What came of one headless run."""

    exit_code: int
    stdout: str
    stderr: str
    requests: list[R]


@dataclass
class Installed:
    """One installation of an agent in a folder of the test's; runs are made from it.

    `edition`: a key of `requirements.KNOWN` where it is not the agent's newest version.
    """

    folder: Path
    script: Script
    seconds: int = 60
    edition: str = ""
    _terminals: list[Terminal] = field(default_factory=list)

    def furnish(self, *folders: Path) -> None:
        """Make the home, and what is in it."""
        self.home = self.folder / "home"
        self.project = self.home / "project"
        self.record = self.folder / "requests.jsonl"
        for folder in (self.project, *(self.home / one for one in folders)):
            folder.mkdir(parents=True, exist_ok=True)
        self.record.touch()

    def planned(
        self, command: Sequence[str], environment: Mapping[str, str], **more: object
    ) -> list[str]:
        """The launcher's command line of one run, its plan written down; see `launcher`."""
        plan = self.folder / f"plan-{uuid.uuid4().hex[:8]}.json"
        write_json(
            plan,
            {
                "command": list(command),
                "folder": str(self.project),
                "environment": dict(environment),
                "script": json.loads(self.script.to_json()),
                "record": str(self.record),
                "seconds": self.seconds,
                **more,
            },
        )
        launcher = [sys.executable, "-m", "tests.support.launcher", str(plan)]
        return ["env", f"--chdir={REPOSITORY}", *launcher]

    def run_to_its_end(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a headless session; raises subprocess.TimeoutExpired when it has no end in time."""
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=self.seconds + 5,
            check=False,
            env={"PATH": os.environ["PATH"]},
        )

    def on_a_terminal(self, command: Sequence[str]) -> Terminal:
        """Start an interactive session; `close` ends it, and so does the end of the test."""
        terminal = Terminal(list(command), {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"})
        self._terminals.append(terminal)
        return terminal

    def noted(self) -> Iterator[Mapping[str, Any]]:
        """What the scripted model noted of each request so far."""
        # Not splitlines: it also splits at U+2028 and its like, which stand in JSON as they are.
        return map(json.loads, self.record.read_text(encoding="utf-8").split("\n")[:-1])

    def close(self) -> None:
        """End every terminal that is still open."""
        while self._terminals:
            self._terminals.pop().close()


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a file as agents keep theirs."""
    path.write_text(json.dumps(data, indent=2), encoding="utf-8")
