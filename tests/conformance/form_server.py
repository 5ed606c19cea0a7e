"""An MCP server on standard input and output whose tools ask the user: a form, or a visit to a page."""

import json
import sys
from collections.abc import Iterator
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "size": {"type": "integer", "minimum": 1},
        "fast": {"type": "boolean"},
    },
    "required": ["name"],
}
ASKS: dict[str, dict[str, Any]] = {
    "ask": {"mode": "form", "message": "Fill in the form.", "requestedSchema": SCHEMA},
    "visit": {
        "mode": "url",
        "message": "Visit the page.",
        "url": "http://127.0.0.1:9/page",
        "elicitationId": "one",
    },
}
TOOLS = [
    {"name": name, "description": asks["message"], "inputSchema": {"type": "object"}}
    for name, asks in ASKS.items()
]


def send(message: dict[str, Any]) -> None:
    """Write one message on a line of its own."""
    print(json.dumps({"jsonrpc": "2.0"} | message), flush=True)


def call(name: str, messages: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Ask the user on the tool's behalf; the answer, as it came, is the tool's result."""
    send({"id": "asked", "method": "elicitation/create", "params": ASKS[name]})
    answer = next(message for message in messages if message.get("id") == "asked")
    said = json.dumps(answer.get("result", answer.get("error")), sort_keys=True)
    return {"content": [{"type": "text", "text": f"the server received {said}"}]}


def main() -> None:
    """Serve until the other side hangs up."""
    messages = map(json.loads, sys.stdin)
    for message in messages:
        match message.get("method"):
            case "initialize":
                version = message["params"]["protocolVersion"]
                about = {"name": "forms", "version": "1"}
                result = {"protocolVersion": version, "capabilities": {"tools": {}}}
                send({"id": message["id"], "result": result | {"serverInfo": about}})
            case "tools/list":
                send({"id": message["id"], "result": {"tools": TOOLS}})
            case "tools/call":
                send({"id": message["id"], "result": call(message["params"]["name"], messages)})
            case _ if "id" in message:
                send({"id": message["id"], "result": {}})


if __name__ == "__main__":
    main()
