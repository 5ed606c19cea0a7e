"""Doubles of those who use OpenCode otherwise than by its terminal, run beside it in its isolation.

Run as `python opencode_driver.py WAY PROGRAM PROJECT PROMPT`. The ways: `serve` is a
client of `opencode serve`, `serve-answers` one whose person answers each permission with "once",
`acp` an editor that never answers, and `acp-late` one that answers when the call is over.
What is printed is one JSON a line: the end of the turn, and what the editor was asked.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

PORT = 4777
URL = f"http://127.0.0.1:{PORT}"
PATIENCE = 150.0


def tell(**what: object) -> None:
    """Print a line for the test."""
    print(json.dumps(what), flush=True)


class Client:
    """A client of `opencode serve`, with its password if there is one."""

    def __init__(self, project: str) -> None:
        self._where = f"directory={urllib.parse.quote(project)}"
        self._headers = {"Content-Type": "application/json"}
        if password := os.environ.get("OPENCODE_SERVER_PASSWORD"):
            shown = base64.b64encode(f"opencode:{password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {shown}"

    def send(self, method: str, route: str, body: object = None, seconds: float = 5) -> Any:
        """Send a request; return the JSON of its answer."""
        data = None if body is None else json.dumps(body).encode()
        url = f"{URL}{route}?{self._where}"
        request = urllib.request.Request(url, method=method, headers=self._headers, data=data)
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.loads(answer.read() or b"null")


def served(program: str, project: str, prompt: str, *, answers: bool) -> None:
    """Have one turn of a session at `opencode serve`."""
    words = [program, "serve", "--port", str(PORT)]
    # It ends at once where its output is /dev/null.
    with Path(os.environ["TMPDIR"], "serve.log").open("wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log)
    client, over = Client(project), threading.Event()
    try:
        session = begun(client)
        turn = {"parts": [{"type": "text", "text": prompt}]}

        def ask() -> None:
            reply = client.send("POST", f"/session/{session}/message", turn, PATIENCE)
            tell(said=[part.get("text") for part in reply["parts"] if part["type"] == "text"])
            over.set()

        threading.Thread(target=ask, daemon=True).start()
        end = time.monotonic() + PATIENCE
        while not over.wait(0.2) and time.monotonic() < end:
            with suppress(OSError):  # it is slow while it begins
                if answers:
                    answer_all(client)
    finally:
        server.kill()
        server.wait()


def answer_all(client: Client) -> None:
    """Answer what waits as a person does, with "once"."""
    for waits in client.send("GET", "/permission"):
        client.send("POST", f"/permission/{waits['id']}/reply", {"reply": "once"})
        tell(answered=waits["permission"])


def begun(client: Client) -> str:
    """Begin a session as soon as the server listens; return its id.

    A request that comes while it begins may never be answered, so it is sent again.
    """
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(OSError):
            return str(client.send("POST", "/session", {})["id"])
        time.sleep(0.2)
    raise TimeoutError("opencode serve does not listen")


class Editor:
    """An editor that starts `opencode acp`, and answers no permission before it is told to."""

    def __init__(self, program: str, project: str) -> None:
        self._agent = subprocess.Popen(
            [program, "acp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=project
        )
        self._lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._calls = 0
        self.asked: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._agent.stdout is not None
        for line in self._agent.stdout:
            self._lines.put(json.loads(line))

    def send(self, **message: object) -> None:
        """Send one message."""
        assert self._agent.stdin is not None
        self._agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._agent.stdin.flush()

    def call(self, method: str, **parameters: object) -> Any:
        """Call a method; return its result, having noted what the agent asked meanwhile."""
        self._calls += 1
        self.send(id=self._calls, method=method, params=parameters)
        end = time.monotonic() + PATIENCE
        while True:
            message = self._lines.get(timeout=end - time.monotonic())
            if "method" in message and "id" in message:
                self.asked.append(message)
                tell(editor_asked=message["params"]["toolCall"].get("title"))
            elif message.get("id") == self._calls and "method" not in message:
                return message["result"]

    def answer_late(self) -> None:
        """Choose "allow always" for all that was ever asked."""
        for request in self.asked:
            options = request["params"]["options"]
            option = next(o["optionId"] for o in options if o["kind"] == "allow_always")
            outcome = {"outcome": "selected", "optionId": option}
            self.send(id=request["id"], result={"outcome": outcome})

    def close(self) -> None:
        """End the agent."""
        self._agent.kill()
        self._agent.wait()


def edited(program: str, project: str, prompt: str, *, late: bool) -> None:
    """Have a turn of a session at `opencode acp`, and another after a late answer."""
    editor = Editor(program, project)
    words = [{"type": "text", "text": prompt}]
    try:
        editor.call("initialize", protocolVersion=1, clientCapabilities={})
        session = editor.call("session/new", cwd=project, mcpServers=[])["sessionId"]
        tell(ended=editor.call("session/prompt", sessionId=session, prompt=words)["stopReason"])
        if late:
            editor.answer_late()
            again = editor.call("session/prompt", sessionId=session, prompt=words)
            tell(ended=again["stopReason"])
    finally:
        editor.close()


def main() -> None:
    """Go the way that the command line names."""
    way, program, project, prompt = sys.argv[1:]
    kind, _, manner = way.partition("-")
    if kind == "serve":
        served(program, project, prompt, answers=manner == "answers")
    else:
        edited(program, project, prompt, late=manner == "late")


if __name__ == "__main__":
    main()
