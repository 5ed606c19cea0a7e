"""The hooks' machine: many hooks in one process, which say all they saw; run as `python -m …crowd`.

Each line of standard input is a hook, or the question where those that wait are; each line of
standard output is how one ended (see `history.HookEnd`), or the answer. Most are the installed
client's own code in a thread each; a `real` one is the installed program.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from hashlib import sha256
from typing import Any

from crabhook.hook import Unanswered, read_options
from crabhook.hook.client import HookRequest
from crabhook.hook.fallback import fall_back
from tests.support.service import CRABHOOK

AGAIN_WITHIN = 6.0  # seconds for which a hook that has its answer asks for it once more

_out = threading.Lock()
_waiting: dict[int, HookRequest] = {}


def run(told: dict[str, Any]) -> None:
    """Be one hook."""
    said = {"number": told["number"], "real": told["real"]}
    said |= _as_program(told) if told["real"] else _in_thread(told)
    _tell(said)


def _as_program(told: dict[str, Any]) -> dict[str, Any]:
    command = [CRABHOOK, *told["options"]]
    done = subprocess.run(command, input=told["payload"].encode(), capture_output=True, check=False)
    return {"at": time.time(), "replies": [], **_printed(done.returncode, done.stdout, done.stderr)}


def _in_thread(told: dict[str, Any]) -> dict[str, Any]:
    payload = told["payload"].encode()
    options = read_options(told["options"], {})
    request = _waiting[told["number"]] = HookRequest(options)
    replies: list[list[str]] = []
    try:
        reply = request.ask(payload)
        at = time.time()
        replies.append(_reply(request, reply))
    except Unanswered as unanswered:
        at, reply = time.time(), fall_back(options, payload, unanswered)
    except Exception as error:  # noqa: BLE001 - as the client's own process takes it
        at, reply = time.time(), fall_back(options, payload, Unanswered("fault", repr(error)))
    finally:
        del _waiting[told["number"]]
    if replies and told["again"]:
        replies += _asked_again(request, told, payload)
    if reply.confirm:
        request.confirm()
    request.close()
    return {"at": at, "replies": replies, **_printed(reply.exit_code, reply.stdout, reply.stderr)}


def _asked_again(first: HookRequest, told: dict[str, Any], payload: bytes) -> list[list[str]]:
    """Ask once more under the same ticket, as after a connection that was lost with the answer."""
    options = read_options([*told["options"], "--wait", f"{AGAIN_WITHIN:g}"], {})
    request = HookRequest(options)
    request._id, request._secret = first._id, first._secret
    with suppress(Unanswered):
        return [_reply(request, request.ask(payload))]
    return []


def _reply(request: HookRequest, reply: Any) -> list[str]:
    """Return who answered, and what, shortened."""
    whole = repr((reply.exit_code, reply.stdout, reply.stderr)).encode()
    return [_peer(request), sha256(whole).hexdigest()[:16]]


def _peer(request: HookRequest) -> str:
    """Return the address at the other end of its connection; "" where there is none."""
    with suppress(OSError, AttributeError):
        return str(request.sock.getpeername()[0])  # type: ignore[union-attr]
    return ""


def _printed(code: int, stdout: bytes, stderr: bytes) -> dict[str, Any]:
    streams = {"stdout": stdout, "stderr": stderr}
    return {"code": code} | {
        name: base64.b64encode(text).decode() for name, text in streams.items()
    }


def _where() -> dict[str, list[Any]]:
    """Return of each that waits who took its request, and whether anybody has."""
    found = {}
    for number, request in tuple(_waiting.items()):
        call = request.call
        found[str(number)] = [_peer(request), call is not None and call.accepted]
    return {"where": found}  # type: ignore[dict-item]


def _tell(said: dict[str, Any]) -> None:
    with _out:
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def main() -> None:
    """Start a hook for each line, until there are no more; those that wait are left to the end."""
    threading.stack_size(256 << 10)
    for line in sys.stdin:
        told = json.loads(line)
        if told == "where":
            _tell(_where())
        else:
            threading.Thread(target=run, args=(told,)).start()


if __name__ == "__main__":
    main()
