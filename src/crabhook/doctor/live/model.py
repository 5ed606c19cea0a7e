"""A model on loopback that has two commands run, one after the other, and then is done."""

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from crabhook.platforms.staging import Answer, Played, Turn

_LARGEST = 32 << 20  # bytes of a request
_MISSING = Answer('{"error": {"type": "not_found_error", "message": "not here"}}')


class ScriptedModel(ThreadingHTTPServer):
    """The model of an agent, which answers between `with` and its end.

    The n-th time it is asked it runs the n-th of `commands`.  `asked` is how
    often that was, and `heard` what it was told of its calls, the oldest first.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, agent: Played, commands: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.agent = agent
        self.asked = 0
        self.heard: tuple[str, ...] = ()
        self._commands = commands
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """The base URL that the agent is given."""
        return f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Say nothing: an agent that was ended leaves its connections."""

    def say(self, heard: Sequence[str]) -> Turn:
        """Return what comes next in the conversation."""
        with self._lock:
            place, self.asked, self.heard = self.asked, self.asked + 1, tuple(heard)
        return Turn(place, self._commands[place] if place < len(self._commands) else None)


class _Handler(BaseHTTPRequestHandler):
    """One connection of the agent."""

    protocol_version = "HTTP/1.1"
    server: ScriptedModel

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Have nothing to look at."""
        self._send(404, _MISSING)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def do_POST(self) -> None:
        """Answer a request to the model."""
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(min(size, _LARGEST)) or b"{}")
        server = self.server
        answer = server.agent.answer(self.path.partition("?")[0], body, server.say)
        self._send(404 if answer is None else 200, answer or _MISSING)

    def _send(self, status: int, answer: Answer) -> None:
        body = answer.text.encode()
        self.send_response(status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
