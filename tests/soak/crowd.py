"""Many hooks in one process: the installed client's own code, a thread each instead of a process.

Each line of standard input is a job: its number, its options, what it is given. What it would have
printed is a line of standard output, and only then does it send its receipt, as the hook does.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
from typing import Any

from crabhook.hook import Unanswered, read_options
from crabhook.hook.client import HookRequest
from crabhook.hook.fallback import fall_back

_out = threading.Lock()


def run(job: dict[str, Any]) -> None:
    """Be one hook."""
    payload = job["payload"].encode()
    options = read_options(job["options"], {})
    request = HookRequest(options)
    try:
        reply = request.ask(payload)
    except Unanswered as unanswered:
        reply = fall_back(options, payload, unanswered)
    except Exception as error:  # noqa: BLE001 - as the client's own process takes it
        reply = fall_back(options, payload, Unanswered("fault", repr(error)))
    said = {
        "number": job["number"],
        "code": reply.exit_code,
        "stdout": base64.b64encode(reply.stdout).decode(),
        "stderr": base64.b64encode(reply.stderr).decode(),
    }
    with _out:
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()
    if reply.confirm:
        request.confirm()
    request.close()


def main() -> None:
    """Start a hook for each line, until there are no more; those that wait are left to the end."""
    threading.stack_size(256 << 10)
    for line in sys.stdin:
        threading.Thread(target=run, args=(json.loads(line),)).start()


if __name__ == "__main__":
    main()
