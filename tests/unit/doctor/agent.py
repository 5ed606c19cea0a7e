"""A small agent for the proof to be made with: it heeds its hooks, or fails to in one of many ways.

Run as a program with Claude Code's arguments; the way it fails is the word in the file `manner`
beside it.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

MANNER = Path(__file__).with_name("manner").read_text().strip()
SETTINGS = Path(os.environ["HOME"], ".claude", "settings.json")
TOOLS = [{"name": f"Tool{n}"} for n in range(9)]


def asks_the_model(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the model says to this."""
    body = json.dumps({"model": "m", "tools": TOOLS, "messages": messages}).encode()
    url = f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, body)) as answer:
        message: dict[str, Any] = json.load(answer)
    return message


def asks_the_hook(block: dict[str, Any]) -> dict[str, Any]:
    """Return what our PreToolUse hook says of a call."""
    handler = json.loads(SETTINGS.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    payload = {
        "session_id": "s",
        "cwd": str(Path.cwd()),
        "hook_event_name": "PreToolUse",
        "tool_name": block["name"],
        "tool_input": block["input"],
        "tool_use_id": block["id"],
    }
    done = subprocess.run(
        [handler["command"], *handler["args"]],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    said: dict[str, Any] = json.loads(done.stdout)["hookSpecificOutput"]
    return said


def calls(block: dict[str, Any]) -> str:
    """Make a call, or not; return what the model is told of it."""
    said = asks_the_hook(block)
    if MANNER == "does nothing":
        return str(said.get("permissionDecisionReason"))
    if said["permissionDecision"] == "allow" or MANNER == "heeds nothing":
        subprocess.run(block["input"]["command"], shell=True, check=True)
        return "done"
    return "no" if MANNER == "tells no reason" else str(said["permissionDecisionReason"])


def main() -> None:
    """Talk until the model calls nothing any more."""
    if MANNER == "never ends":
        time.sleep(600)
    if MANNER == "cannot begin":
        sys.exit("please run /login")
    messages: list[dict[str, Any]] = [{"role": "user", "content": sys.argv[-1]}]
    while True:
        message = asks_the_model(messages)
        block = message["content"][0]
        if block["type"] != "tool_use":
            return
        result = {"type": "tool_result", "tool_use_id": block["id"], "content": calls(block)}
        messages += [
            {"role": "assistant", "content": [block]},
            {"role": "user", "content": [result]},
        ]


if __name__ == "__main__":
    main()
