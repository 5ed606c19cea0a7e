"""The client in Node of tests/interop/node, as a process: a stranger to our code."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support.client import finished
from tests.support.requirements import insist_on_packages

FOLDER = Path(__file__).resolve().parents[1] / "interop" / "node"
PROGRAM = FOLDER / "ask.js"


def insist() -> None:
    """Skip the test where node or its libraries are missing; fail it in CI."""
    insist_on_packages(FOLDER, "the client in Node")


class NodeClient(subprocess.Popen[bytes]):
    """A client that has its input and asks; `options` are those that ask.js names."""

    def __init__(self, address: str, payload: bytes, **options: Any) -> None:
        super().__init__(
            ["node", str(PROGRAM), address, json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"]},
        )
        assert self.stdin is not None
        self.stdin.write(payload)
        self.stdin.close()
        self.stdin = None

    def lines(self, seconds: float = 60) -> list[dict[str, Any]]:
        """Wait for its end; return all that it printed."""
        done = finished(self, seconds)
        assert (done.code, done.stderr) == (0, "")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def answer(self, seconds: float = 60) -> dict[str, Any]:
        """Wait for its end; return the answer, as the fields that are present."""
        last = self.lines(seconds)[-1]
        assert "answer" in last, last
        answer: dict[str, Any] = last["answer"]
        return answer
