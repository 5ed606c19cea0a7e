"""Where allowed lines are run: no network, no other process, and every program a recorder."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self, TypeAlias

from tests.fuzz.running.inside import SHELLS, where
from tests.support import isolation

Ran: TypeAlias = tuple[str, str, str, tuple[str, ...]]
"""A program's name, the path it was run by, what in its environment is not its own, its arguments."""


@functools.cache
def why_not() -> str | None:
    """Why nothing can be run on this machine, and what to do about it; None where it can."""
    lacks = [name for name in ("bash", "dash", "mount") if where(name) is None]
    if lacks:
        return f"it lacks {', '.join(lacks)}; install with the system's package manager"
    refusal = isolation.why_not()
    return refusal and f"lines are only run in network and process namespaces, and {refusal}"


class Cage:
    """Runs lines; `missing` are shells that this machine does not have."""

    def __init__(self) -> None:
        script = Path(__file__).resolve().with_name("inside.py")
        command = isolation.isolated([sys.executable, "-I", "-S", str(script)])
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
        )
        ready = self._answer()
        self.shells: tuple[str, ...] = tuple(ready["shells"])
        self.missing = tuple(shell for shell in SHELLS if shell not in self.shells)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)

    def send(self, root: str, shell: str, line: str) -> None:
        """Have a line run; `receive` tells what came of it, in the order of sending."""
        assert self._process.stdin is not None
        order = json.dumps({"root": root, "shell": shell, "line": line})
        self._process.stdin.write(order.encode() + b"\n")
        self._process.stdin.flush()

    def receive(self) -> tuple[Ran, ...]:
        """Return what ran for the earliest line that was not told of yet."""
        ran = self._answer()["ran"]
        return tuple((name, path, foreign, tuple(words)) for name, path, foreign, *words in ran)

    def run(self, root: str, shell: str, line: str) -> tuple[Ran, ...]:
        """Run one line; return what ran."""
        self.send(root, shell, line)
        return self.receive()

    def _answer(self) -> dict[str, Any]:
        """Read one answer; it comes, since what is run has a bounded time."""
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        if not told:
            raise RuntimeError(f"the cage ended, with exit code {self._process.wait(10)}")
        answer = json.loads(told)
        assert isinstance(answer, dict)
        return answer
