"""The Responses API on loopback, as much of it as Codex uses, answering from a script.

`POST /v1/responses` brings one reply as server-sent events. A call of a tool that the request
offers as one of free text, as it does `apply_patch`, is answered with the text at "input".
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.scripted_model import FEWEST_MAIN_TOOLS, MAIN, SIDE, ModelHandler
from tests.support.turns import Block, Text

USAGE = {
    "input_tokens": 1,
    "input_tokens_details": None,
    "output_tokens": 1,
    "output_tokens_details": None,
    "total_tokens": 2,
}


def conversation(body: dict[str, Any]) -> str:
    """Which conversation a request belongs to: the main one, or a side one."""
    return MAIN if len(body.get("tools") or ()) >= FEWEST_MAIN_TOOLS else SIDE


def free_text_tools(body: dict[str, Any]) -> frozenset[str]:
    """The tools that take one text and no JSON."""
    tools = body.get("tools") or ()
    return frozenset(tool["name"] for tool in tools if tool["type"] == "custom")


def item(block: Block, name: str, free_text: frozenset[str]) -> dict[str, Any]:
    """One block as an item of a response."""
    if isinstance(block, Text):
        content = [{"type": "output_text", "text": block.text}]
        return {"type": "message", "role": "assistant", "id": f"msg_{name}", "content": content}
    call = {"id": f"fc_{name}", "call_id": f"call_{name}", "name": block.name}
    if block.name in free_text:
        return {"type": "custom_tool_call", **call, "input": block.input["input"]}
    arguments = json.dumps(dict(block.input), ensure_ascii=False)
    return {"type": "function_call", **call, "arguments": arguments}


def events(blocks: tuple[Block, ...], name: str, free_text: frozenset[str]) -> list[dict[str, Any]]:
    """One reply as the stream of events of the Responses API."""
    items = [item(block, f"{name}_{place}", free_text) for place, block in enumerate(blocks)]
    return [
        {"type": "response.created", "response": {"id": name}},
        *(
            {"type": "response.output_item.done", "output_index": place, "item": one}
            for place, one in enumerate(items)
        ),
        {"type": "response.completed", "response": {"id": name, "usage": USAGE}},
    ]


class CodexHandler(ModelHandler):
    """One connection of Codex to its model."""

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server looks for
        """Answer a request to the model."""
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.partition("?")[0] != "/v1/responses":
            return self.probe()
        body = json.loads(data)
        blocks = self.server.playback.reply(body, conversation(body))
        name = f"resp{self.server.next_number():04d}"
        lines = [
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            for event in events(blocks, name, free_text_tools(body))
        ]
        return self.send_body(200, "text/event-stream", "".join(lines).encode())
