"""Real agent frameworks of tests/interop/frameworks, each as a process with a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support.requirements import leave_out

FOLDER = Path(__file__).resolve().parents[1] / "interop" / "frameworks"
PYTHON = FOLDER / ".venv" / "bin" / "python"


def insist() -> None:
    """Skip the test where the frameworks are missing; fail it in CI."""
    wanted = (FOLDER / "requirements.txt").read_text(encoding="utf-8")
    have = FOLDER / ".venv" / "installed.txt"
    if not have.exists() or have.read_text(encoding="utf-8") != wanted:
        reason = "the agent frameworks are missing; run tests/interop/frameworks/install"
        leave_out(reason)


class FrameworkRun(subprocess.Popen[str]):
    """A run of a framework's agent; `lines` make the agent, and none let it pause."""

    def __init__(self, name: str, url: str, token: str, lines: str = "") -> None:
        super().__init__(
            [str(PYTHON), str(FOLDER / "drive.py"), name, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={"PATH": os.environ["PATH"], "CRABHOOK_TOKEN": token, "LANG": "C.UTF-8"},
        )
        assert self.stdin is not None
        self.stdin.write(lines)
        self.stdin.close()
        self.stdin = None

    def outcome(self) -> dict[str, Any]:
        """Wait for the end; return what ran, and what the model read."""
        out, err = self.communicate(timeout=60)
        assert self.returncode == 0, err
        outcome: dict[str, Any] = json.loads(out.splitlines()[-1])
        return outcome


def gate(url: str, token: str) -> list[str]:
    """Hold a provider to the package's own gate; return the laws that it kept, which are all."""
    ran = subprocess.run(
        [str(PYTHON), str(FOLDER / "gate.py"), url],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "CRABHOOK_TOKEN": token, "LANG": "C.UTF-8"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.split()
