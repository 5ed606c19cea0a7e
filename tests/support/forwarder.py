"""A hook forwarder of the tests' own that speaks the harness bridge's lines; see docs/reference/ndjson.md.

As a program it is what an agent would start: `python -I -S forwarder.py SOCKET`, the hook's input
on standard input, the action carried out as the table of exit codes has it. It shares no code
with the bridge, and nothing with any other forwarder.
"""

from __future__ import annotations

import json
import random
import socket
import string
import subprocess
import sys
import time
from typing import Any

TIMEOUT = 60.0
"""Seconds after which it gives up, as an agent's hook would."""


def main(path: str) -> int:
    """Forward one hook's input; return the exit code."""
    payload = json.loads(sys.stdin.buffer.read())
    letters = "".join(random.choices(string.ascii_lowercase + string.digits, k=7))
    asked = {
        "request_id": f"{time.time_ns() // 1_000_000}-{letters}",
        "ts": time.time_ns() // 1_000_000,
        "session_id": payload.get("session_id"),
        "hook_event_name": payload.get("hook_event_name"),
        "payload": payload,
    }
    try:
        answer = ask(path, asked)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"forwarder: {error}\n")
        return 0
    return carry_out(answer["payload"])


def ask(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Write one line, read one line."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(TIMEOUT)
        line.connect(path)
        line.sendall(json.dumps(asked).encode() + b"\n")
        with line.makefile("rb") as answers:
            answer: dict[str, Any] = json.loads(answers.readline() or b"no answer")
    if answer["request_id"] != asked["request_id"]:
        raise ValueError(f"an answer to another request: {answer}")
    return answer


def carry_out(result: dict[str, Any]) -> int:
    """Print what the action prints; return its exit code."""
    if result["action"] == "json_output":
        sys.stdout.write(json.dumps(result["stdout_json"]))
    elif result["action"] == "block_with_stderr":
        sys.stderr.write(result["stderr"])
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))


class Forwarder(subprocess.Popen[bytes]):
    """The forwarder as a process that has been given its input."""

    def __init__(self, path: str, payload: bytes) -> None:
        super().__init__(
            [sys.executable, "-I", "-S", __file__, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.stdin is not None
        self.stdin.write(payload)
        self.stdin.close()
        self.stdin = None

    def end(self) -> None:
        """Kill it if it still lives, and let go of its pipes."""
        self.kill()
        for pipe in (self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        self.wait(60)
