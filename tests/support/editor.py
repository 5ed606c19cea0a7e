"""An editor's double: it speaks ACP to a real agent, or to our proxy before one."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

Message = Mapping[str, Any]
SECONDS = 60.0


class Editor:
    """Starts an agent, or the proxy before one; ended with the `with` block.

    `heard` are the agent's lines as they came, `said` the editor's own. Requests of the agent wait
    in a queue until `answer` or the `policy`, which is asked in the reader's thread, answers them.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if environment is None else dict(environment),
            cwd=cwd,
        )
        self.heard: list[bytes] = []
        self.said: list[bytes] = []
        self.stderr = b""
        self._ids = 0
        self._lines: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._waiting: list[Message] = []
        self._threads = [
            threading.Thread(target=run, daemon=True) for run in (self._read, self._errors)
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.heard.append(line)
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                self._lines.put(message)
        self._lines.put(None)

    def _errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.stderr += line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    @property
    def pid(self) -> int:
        """The process that it has started."""
        return self._process.pid

    def leave(self, seconds: float = SECONDS) -> int:
        """Close the pipe as an editor does that ends; return the exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        try:
            if not self._process.stdin.closed:
                self._process.stdin.close()
            code = self._process.wait(seconds)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            code = self._process.wait(SECONDS)
        for thread in self._threads:
            thread.join(SECONDS)
        self._process.stdout.close()
        self._process.stderr.close()
        return code

    def write(self, line: bytes) -> None:
        """Send bytes as they are."""
        assert self._process.stdin is not None
        self.said.append(line)
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def send(self, **message: Any) -> None:
        """Send a message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def request(self, method: str, **params: Any) -> int:
        """Send a request; return its id."""
        self._ids += 1
        self.send(id=self._ids, method=method, params=params)
        return self._ids

    def next(self, fits: Callable[[Message], bool], seconds: float = SECONDS) -> Message:
        """Return the next message that fits; those before it are kept for others."""
        for message in self._waiting:
            if fits(message):
                self._waiting.remove(message)
                return message
        end = time.monotonic() + seconds
        while True:
            try:
                message = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                message = None
            if message is None:
                told = b"".join(self.heard)[-3000:].decode("utf-8", "replace")
                raise AssertionError(
                    f"nothing that fits was heard:\n{told}\n{self.stderr.decode()[-3000:]}"
                )
            if fits(message):
                return message
            self._waiting.append(message)

    def result(self, request: int, seconds: float = SECONDS) -> Message:
        """Return the answer to a request of the editor's."""
        return self.next(lambda said: "method" not in said and said.get("id") == request, seconds)

    def call(self, method: str, seconds: float = SECONDS, **params: Any) -> Any:
        """Send a request and return its result."""
        answer = self.result(self.request(method, **params), seconds)
        assert "result" in answer, answer
        return answer["result"]

    def open(self, cwd: str, **capabilities: Any) -> str:
        """Begin a session; return its id."""
        usual = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        self.call(
            "initialize",
            protocolVersion=1,
            clientCapabilities={**usual, **capabilities},
            clientInfo={"name": "double", "version": "0"},
        )
        return str(self.call("session/new", cwd=cwd, mcpServers=[])["sessionId"])

    def prompt(self, session: str, text: str) -> int:
        """Send a prompt; return the request's id."""
        return self.request(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}]
        )

    def asked(self, seconds: float = SECONDS) -> Message:
        """Return the agent's next request for a permission."""
        return self.next(lambda said: said.get("method") == "session/request_permission", seconds)

    def choose(self, request: Message, kind: str) -> None:
        """Answer a request for a permission with its first option of a kind."""
        options = [one for one in request["params"]["options"] if one["kind"] == kind]
        outcome = {"outcome": "selected", "optionId": options[0]["optionId"]}
        self.send(id=request["id"], result={"outcome": outcome})

    def methods(self) -> list[str]:
        """The methods of all that was heard so far."""
        said = (json.loads(line) for line in self.heard)
        return [one["method"] for one in said if isinstance(one, dict) and "method" in one]
