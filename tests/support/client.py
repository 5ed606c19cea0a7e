"""The true hook client as a process, started in the shape that `crabhook install` writes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crabhook.install.program import interpreter, stub
from crabhook.platforms.installation import START

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLES = Path(__file__).parents[1] / "samples"


def sample(name: str, *, agent: str = "claude", **changes: Any) -> bytes:
    """A recorded input of that agent's hook, some of its fields changed."""
    fields = json.loads((SAMPLES / agent / f"{name}.json").read_text(encoding="utf-8"))
    return json.dumps(fields | changes).encode()


class Client(subprocess.Popen[bytes]):
    """A hook that has been given its input and now asks; `finish` returns what it printed."""

    def __init__(
        self, address: str, payload: bytes | None, *options: str, **environment: str
    ) -> None:
        super().__init__(
            [interpreter(), "-I", "-S", "-c", START, stub(), "--server", address, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **environment},
        )
        if payload is not None:
            assert self.stdin is not None
            self.stdin.write(payload)
            self.stdin.close()
            self.stdin = None

    def finish(self, seconds: float = 60) -> Answer:
        """Wait for the end; kill what has none in time, and fail."""
        return finished(self, seconds)


def finished(process: subprocess.Popen[bytes], seconds: float = 60) -> Answer:
    """Wait for a process's end; kill what has none in time, and fail."""
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Answer(process.returncode, stdout, stderr.decode())


class Answer:
    """What a hook gave its agent."""

    def __init__(self, code: int, stdout: bytes, stderr: str) -> None:
        self.code, self.stdout, self.stderr = code, stdout, stderr

    def __repr__(self) -> str:
        return f"Answer({self.code}, {self.stdout!r}, {self.stderr!r})"

    @property
    def silent(self) -> bool:
        """No opinion: exit code 0, and nothing on standard output."""
        return self.code == 0 and not self.stdout

    @property
    def output(self) -> Mapping[str, Any]:
        """The JSON on standard output."""
        parsed: Mapping[str, Any] = json.loads(self.stdout)
        return parsed
