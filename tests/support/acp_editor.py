"""An editor's double: starts an agent that speaks ACP, sends it one prompt, prints what it says.

usage: acp_editor.py FOLDER PROMPT AGENT [ARGUMENT…]

It refuses each permission that the agent asks of it, so that what runs was let by a hook. It ends
with 0 when the turn has ended, and its last line says how.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_REFUSED = {"outcome": {"outcome": "cancelled"}}


class Editor:
    """One agent on its standard input and output."""

    def __init__(self, command: list[str], folder: str) -> None:
        self._agent = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, text=True
        )
        self._number = 0

    def _send(self, message: dict[str, Any]) -> None:
        assert self._agent.stdin is not None
        self._agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._agent.stdin.flush()

    def calls(self, method: str, **params: Any) -> dict[str, Any]:
        """Call the agent and return its result, serving what it asks meanwhile."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._agent.stdout is not None
        for line in self._agent.stdout:
            message = json.loads(line)
            if "method" in message and "id" in message:
                print("asked:", message["method"], flush=True)
                self._send({"id": message["id"], "result": _REFUSED})
            elif message.get("id") == self._number:
                return dict(message["result"])
        raise SystemExit("the agent has ended")

    def close(self) -> None:
        """Close the agent's input, upon which it ends."""
        assert self._agent.stdin is not None
        self._agent.stdin.close()
        self._agent.wait()


def main() -> None:
    """Run one turn."""
    folder, prompt, *command = sys.argv[1:]
    editor = Editor(command, folder)
    cannot = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    editor.calls("initialize", protocolVersion=1, clientCapabilities=cannot)
    session = editor.calls("session/new", cwd=folder, mcpServers=[])["sessionId"]
    text = [{"type": "text", "text": prompt}]
    print(editor.calls("session/prompt", sessionId=session, prompt=text)["stopReason"], flush=True)
    editor.close()


if __name__ == "__main__":
    main()
