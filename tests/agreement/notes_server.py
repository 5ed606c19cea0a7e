"""An MCP server on standard input and output whose tools keep no notes at all."""

import json
import sys
from typing import Any

TOOLS = [
    {"name": name, "description": f"{name} a note", "inputSchema": {"type": "object"}}
    for name in ("get", "list", "put", "put_all")
]


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """What a request comes to."""
    match message["method"]:
        case "initialize":
            about = {"name": "notes", "version": "1"}
            version = message["params"]["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return {"content": [{"type": "text", "text": "noted"}]}
        case _:
            return {}


def main() -> None:
    """Serve until the other side hangs up."""
    for message in map(json.loads, sys.stdin):
        if "id" in message and "method" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
