"""The Gemini API on loopback, as much of it as Gemini CLI uses, answering from a script.

`POST /v1beta/models/MODEL:streamGenerateContent` brings one reply as server-sent events,
`:generateContent` the same whole, `:countTokens` a number. The main conversation is known by
the tools it offers.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.scripted_model import FEWEST_MAIN_TOOLS, MAIN, SIDE, ModelHandler
from tests.support.turns import Block, Text

USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}


def conversation(body: dict[str, Any]) -> str:
    """Which conversation a request belongs to: the main one, or a side one."""
    offered = [one for tool in body.get("tools") or () for one in tool["functionDeclarations"]]
    return MAIN if len(offered) >= FEWEST_MAIN_TOOLS else SIDE


def part(block: Block) -> dict[str, Any]:
    """One block as a part of a reply."""
    if isinstance(block, Text):
        return {"text": block.text}
    return {"functionCall": {"name": block.name, "args": dict(block.input)}}


def reply(blocks: tuple[Block, ...], model: str) -> dict[str, Any]:
    """One whole reply; a stream of one event holds just the same."""
    content = {"role": "model", "parts": [part(block) for block in blocks]}
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": model}


class GeminiHandler(ModelHandler):
    """One connection of Gemini CLI to its model."""

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server looks for
        """Answer a request to the model; count tokens when asked to."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        model, _, method = path.rpartition("/")[2].partition(":")
        if method == "countTokens":
            self.send_body(200, "application/json", b'{"totalTokens": 1}')
        elif method == "generateContent":
            self.send_body(200, "application/json", self.scripted(body, model))
        elif method == "streamGenerateContent":
            stream = b"data: " + self.scripted(body, model) + b"\n\n"
            self.send_body(200, "text/event-stream", stream)
        else:
            self.probe()

    def scripted(self, body: dict[str, Any], model: str) -> bytes:
        """The next turn of the conversation that asks."""
        blocks = self.server.playback.reply(body, conversation(body))
        return json.dumps(reply(blocks, model)).encode()
