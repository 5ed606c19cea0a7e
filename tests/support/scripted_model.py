"""A model API on loopback that answers from a script and records what it was asked.

It speaks as much of the Messages API as Claude Code uses: `POST /v1/messages`, streamed as
server-sent events or whole. The n-th request of the main conversation gets the n-th turn of the
script; side requests (titles, summaries, classifiers) are told apart by how few tools they carry.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from tests.support.turns import PLAN_FILE, Block, Script, ToolUse

_PLAN_FILE = re.compile(r'/[^\s"\\]+/plans/[\w-]+\.md')

MAIN = "main"
SIDE = "side"
FEWEST_MAIN_TOOLS = 5
"""The main conversation offers some twenty tools; a side request offers one, or none."""


def opening_text(body: dict[str, Any]) -> str:
    """The first message of a conversation as text: where a subagent's own prompt stands."""
    messages = body.get("messages") or [{}]
    return json.dumps(messages[0].get("content", ""), ensure_ascii=False)


def conversation(body: dict[str, Any], script: Script) -> str:
    """Which conversation a request belongs to: the main one, a subagent's marker, or a side one."""
    tools = [tool.get("name") for tool in body.get("tools") or ()]
    if len(tools) < FEWEST_MAIN_TOOLS and "Bash" not in tools:  # as where `--tools` names it alone
        return SIDE
    opening = opening_text(body)
    return next((marker for marker in script.subagents if marker in opening), MAIN)


@dataclass
class Playback:
    """The script, how far each conversation has come in it, and the record of all requests."""

    script: Script
    record: Path
    _asked: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, line: dict[str, Any]) -> None:
        """Append one request to the record, whole or not at all."""
        with self._lock, self.record.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")

    def reply(self, body: dict[str, Any], whose: str) -> tuple[Block, ...]:
        """The blocks to answer this request of the conversation `whose` with."""
        with self._lock:
            place = self._asked[whose]
            self._asked[whose] += 1
        self.note({"conversation": whose, "place": place, "body": body})
        turns = {MAIN: self.script.turns, SIDE: ()}.get(whose, self.script.subagents.get(whose, ()))
        said = turns[place] if place < len(turns) else self.script.closing
        return tuple(_with_plan_file(block, body) for block in said)


def _with_plan_file(block: Block, body: dict[str, Any]) -> Block:
    """The block with the name of the plan file, as plan mode has told it, where it wants that."""
    if not isinstance(block, ToolUse) or PLAN_FILE not in block.input.values():
        return block
    named = _PLAN_FILE.search(json.dumps(body))
    assert named, "plan mode named no file"
    own = {key: named[0] if one == PLAN_FILE else one for key, one in block.input.items()}
    return ToolUse(block.name, own)


def events(blocks: tuple[Block, ...], model: str, name: str) -> list[dict[str, Any]]:
    """One reply as the stream of events of the Messages API."""
    stop = "tool_use" if any(block.is_tool_use for block in blocks) else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    head: dict[str, Any] = {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
    }
    head |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    stream: list[dict[str, Any]] = [{"type": "message_start", "message": head}]
    for index, block in enumerate(blocks):
        start, delta = block.streamed(f"toolu_{name}_{index}")
        stream += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ending = {"stop_reason": stop, "stop_sequence": None}
    return [
        *stream,
        {"type": "message_delta", "delta": ending, "usage": usage},
        {"type": "message_stop"},
    ]


def whole(blocks: tuple[Block, ...], model: str, name: str) -> dict[str, Any]:
    """One reply as a single message, for a request that did not ask for a stream."""
    first, *_, last, _ = events(blocks, model, name)
    content = [block.plain(f"toolu_{name}_{index}") for index, block in enumerate(blocks)]
    return {**first["message"], "content": content, **last["delta"]}


class ModelHandler(BaseHTTPRequestHandler):
    """One connection of the agent to its model."""

    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parent's name
        """Keep standard error for the agent: the record says what was asked."""

    def send_body(self, status: int, kind: str, body: bytes) -> None:
        """Send one whole answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def probe(self) -> None:
        """Whatever else the agent looks for: it is not here."""
        self.server.playback.note({"conversation": "probe", "path": f"{self.command} {self.path}"})
        missing = {"type": "error", "error": {"type": "not_found_error", "message": "not here"}}
        self.send_body(404, "application/json", json.dumps(missing).encode())

    do_GET = do_HEAD = probe  # noqa: N815 - the names that http.server looks for

    def do_POST(self) -> None:
        """Answer a request to the model; count tokens when asked to."""
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            self.send_body(200, "application/json", b'{"input_tokens": 1}')
        elif path == "/v1/messages":
            self.answer(json.loads(data))
        else:
            self.probe()

    def answer(self, body: dict[str, Any]) -> None:
        """Answer from the script, streamed or whole as the request wants it."""
        playback = self.server.playback
        blocks = playback.reply(body, conversation(body, playback.script))
        model, name = str(body.get("model", "scripted")), f"msg{self.server.next_number():04d}"
        if not body.get("stream"):
            reply = json.dumps(whole(blocks, model, name)).encode()
            return self.send_body(200, "application/json", reply)
        lines = [
            f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events(blocks, model, name)
        ]
        return self.send_body(200, "text/event-stream", "".join(lines).encode())


class ModelServer(ThreadingHTTPServer):
    """The scripted model, serving in a thread between `with` and its end."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, playback: Playback, handler: type[BaseHTTPRequestHandler] = ModelHandler
    ) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.playback = playback
        self._number = 0
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """The base URL that the agent is given."""
        return f"http://127.0.0.1:{self.server_port}"

    def next_number(self) -> int:
        """Count replies, so that every tool call has a name of its own."""
        with self._lock:
            self._number += 1
            return self._number

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


def main() -> None:
    """Serve a script until interrupted, to try an agent by hand."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("script", type=Path, help="a script as turns.Script.to_json writes it")
    parser.add_argument("record", type=Path, help="where to append the requests, one JSON a line")
    chosen = parser.parse_args()
    script = Script.from_json(chosen.script.read_text(encoding="utf-8"))
    with ModelServer(Playback(script, chosen.record)) as server:
        print(server.address, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
