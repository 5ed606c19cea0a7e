"""Our plugin in the runtime that OpenCode brings, with doubles for OpenCode and for our server."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from crabhook.model.card import Stance
from crabhook.platforms.installation import Installation
from crabhook.platforms.opencode.settings import groups, text
from tests.support.requirements import leave_out, program

STAGE = Path(__file__).with_name("opencode_stage.mjs")

Says = Callable[[Mapping[str, Any]], "Reply | None"]
"""What the server's double says to an input; None for no opinion."""


@dataclass(frozen=True)
class Reply:
    """An answer over HTTP, after a while."""

    output: Any = None
    status: int = 200
    after: float = 0.0


@dataclass
class Played:
    """What came of a scene: of each step, what OpenCode was told, and what the server was asked."""

    results: list[Any]
    answers: list[dict[str, Any]]
    asked: list[dict[str, Any]]

    def named(self, event: str) -> list[dict[str, Any]]:
        """The inputs of an event."""
        return [asked for asked in self.asked if asked["hook_event_name"] == event]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PluginStage

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Be alive."""
        self._send(Reply())

    def do_POST(self) -> None:
        """Note an input, and answer it."""
        data = self.rfile.read(int(self.headers["Content-Length"]))
        asked = json.loads(data)
        self.server.headers.append(dict(self.headers))
        self.server.asked.append(asked)
        reply = self.server.says(asked) or Reply()
        time.sleep(reply.after)
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        body = b"" if reply.output is None else json.dumps(reply.output).encode()
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@dataclass
class PluginStage(ThreadingHTTPServer):
    """The double of the server, which plays scenes to the plugin; ended with the `with` block.

    `seconds` is how long the plugin waits, if not as it was installed.
    """

    folder: Path
    says: Says = lambda _: None
    how: Mapping[str, Any] = field(default_factory=dict)
    seconds: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    daemon_threads = True
    block_on_close = False

    def __post_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Say nothing: a plugin that withdraws leaves its connection."""

    def play(self, *steps: Mapping[str, Any], **scene: Any) -> Played:
        """Play a scene, to its end within a minute."""
        runtime = program("opencode")
        if runtime is None:
            why = "opencode is not installed; run tests/agents/install"
            leave_out(why)
        token = self.folder / "token"
        token.write_text("the-token\n", encoding="utf-8")
        url = self.how.get("url", f"http://127.0.0.1:{self.server_port}")
        options = {"stance": Stance.COMPANION, "token_file": str(token), **self.how, "url": url}
        plugin = self.folder / "crabhook.js"
        content = text(groups(Installation("", "", **options)))
        if self.seconds:
            content = content.replace('"wait": 86430', f'"wait": {self.seconds}')
        plugin.write_text(content, encoding="utf-8")
        done = subprocess.run(
            [str(runtime), "run", str(STAGE), str(plugin)],
            input=json.dumps({"steps": steps, **scene}),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "BUN_BE_BUN": "1",
                **scene.pop("environment", {}),
            },
        )
        assert done.returncode == 0, done.stderr
        return Played(**json.loads(done.stdout), asked=self.asked)


def before(
    tool: str, use_id: str = "call_1", session: str = "ses_1", **args: object
) -> dict[str, Any]:
    """A step: OpenCode is about to make a call."""
    return {
        "before": {"input": {"tool": tool, "sessionID": session, "callID": use_id}, "args": args}
    }


def permission(number: int, command: str, use_id: str = "call_1", **more: object) -> dict[str, Any]:
    """A step: OpenCode asks its user about a command."""
    asked = {
        "id": f"per_{number}",
        "sessionID": "ses_1",
        "permission": "bash",
        "patterns": [command],
        "metadata": {"command": command},
        "always": ["touch *"],
        "tool": {"messageID": "msg_1", "callID": use_id},
    }
    return {"event": {"type": "permission.asked", "properties": asked | more}}


def event(name: str, **properties: object) -> dict[str, Any]:
    """A step: something has happened in OpenCode."""
    return {"event": {"type": name, "properties": properties}}
