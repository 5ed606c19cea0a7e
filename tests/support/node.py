"""The client in Node of tests/interop/node, as a process: a stranger to our code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import finished
from tests.support.requirements import REQUIRED

FOLDER = Path(__file__).resolve().parents[1] / "interop" / "node"
PROGRAM = FOLDER / "ask.js"


def insist() -> None:
    """Skip the test where node or its libraries are missing; fail it in CI."""
    manifest = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    lacks = [] if shutil.which("node") else ["node"]
    for package, wanted in manifest["dependencies"].items():
        place = FOLDER / "node_modules" / package / "package.json"
        have = json.loads(place.read_text(encoding="utf-8"))["version"] if place.exists() else ""
        lacks += [] if have == wanted else [f"{package} {wanted}; run tests/interop/node/install"]
    if lacks:
        reason = "the client in Node cannot run here; missing: " + "; ".join(lacks)
        (pytest.fail if os.environ.get(REQUIRED) == "1" else pytest.skip)(reason)


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
