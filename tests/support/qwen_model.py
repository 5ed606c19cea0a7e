"""OpenAI's chat completions on loopback, as much of them as Qwen Code uses, from a script.

`POST /chat/completions` brings one reply, as server-sent events where the request wants a stream.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.scripted_model import FEWEST_MAIN_TOOLS, MAIN, SIDE, ModelHandler
from tests.support.turns import Block, Script, Text, ToolUse

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def conversation(body: dict[str, Any], script: Script) -> str:
    """Which conversation a request belongs to: the main one, a subagent's marker, or a side one."""
    if len(body.get("tools") or ()) < FEWEST_MAIN_TOOLS:
        return SIDE
    said = (message for message in body["messages"] if message["role"] == "user")
    opening = json.dumps(next(said, {}), ensure_ascii=False)
    return next((marker for marker in script.subagents if marker in opening), MAIN)


def message(blocks: tuple[Block, ...], name: str) -> dict[str, Any]:
    """One reply as a message of the assistant."""
    text = "".join(block.text for block in blocks if isinstance(block, Text))
    spoken: dict[str, Any] = {"role": "assistant", "content": text or None}
    calls = [
        {
            "index": place,
            "id": f"call_{name}_{place}",
            "type": "function",
            "function": {"name": block.name, "arguments": json.dumps(dict(block.input))},
        }
        for place, block in enumerate(block for block in blocks if isinstance(block, ToolUse))
    ]
    return spoken | ({"tool_calls": calls} if calls else {})


class QwenHandler(ModelHandler):
    """One connection of Qwen Code to its model."""

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server looks for
        """Answer a request to the model."""
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.partition("?")[0] != "/chat/completions":
            return self.probe()
        body = json.loads(data)
        playback = self.server.playback
        blocks = playback.reply(body, conversation(body, playback.script))
        name = f"chat{self.server.next_number():04d}"
        spoken = message(blocks, name)
        end = "tool_calls" if "tool_calls" in spoken else "stop"
        head = {"id": name, "created": 1, "model": body.get("model", "scripted")}
        if not body.get("stream"):
            choice = {"index": 0, "message": spoken, "finish_reason": end}
            whole = head | {"object": "chat.completion", "choices": [choice], "usage": USAGE}
            return self.send_body(200, "application/json", json.dumps(whole).encode())
        head["object"] = "chat.completion.chunk"
        first = {"index": 0, "delta": spoken, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": end}
        chunks = [head | {"choices": [first]}, head | {"choices": [last], "usage": USAGE}]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        stream = "".join([*lines, "data: [DONE]\n\n"]).encode()
        return self.send_body(200, "text/event-stream", stream)
