"""A hook's process: one input, one answer, and the end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from crabhook.model.jsontext import compact
from crabhook.sdk.responding import FAILED, REFUSED, OnError, check, decide

if TYPE_CHECKING:
    from crabhook.sdk.dialects.reply import Reply
    from crabhook.sdk.handler import Handler
    from crabhook.sdk.platform import Platform

_LARGEST_INPUT = 32 << 20
_HELP = """\
This is a hook: a coding agent starts it and gives it an event on standard input.
To try it by hand:

  echo '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}' \\
    | python YOUR_HOOK.py
"""


def run(
    *handlers: Handler[Any], on_error: OnError = "pass", platform: Platform | str | None = None
) -> NoReturn:
    """Be the hook: read the event, answer it with the first handler that does, and end.

    `on_error` says what a failing handler means: "pass" lets the agent go on,
    "deny" refuses what is about to happen where it can be refused.
    `platform` is whose hook this is; by default it is found from the input.

    Exit codes: 0, the answer is on standard output; 1, a handler failed and
    the agent goes on; 2, refused, the reason on standard error.  What a
    handler prints, or a program it starts, goes to standard error.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(_HELP)
        raise SystemExit(0)
    try:
        check(on_error, platform)
    except ValueError as error:
        sys.stderr.write(f"crabhook.sdk: this hook refuses all until it is mended: {error}\n")
        raise SystemExit(REFUSED) from None
    answer_to = os.dup(1)
    os.dup2(2, 1)
    reply, answer = decide(_input(), handlers, on_error, platform)
    whole = _print(reply, answer_to)
    if whole and (printed := getattr(answer, "printed", None)):
        printed()
    raise SystemExit(reply.exit_code if whole else FAILED)


def _input() -> bytes:
    """Return all of standard input; one that is too large is cut, and so cannot be read."""
    return sys.stdin.buffer.read(_LARGEST_INPUT) if sys.stdin else b""


def _print(reply: Reply, answer_to: int) -> bool:
    """Print the reply; say whether the agent took the whole of it."""
    sys.stdout.flush()
    for line in reply.unsaid:
        sys.stderr.write(f"crabhook.sdk: left out {line}\n")
    sys.stderr.write(reply.stderr)
    sys.stderr.flush()
    if reply.output is None:
        return True
    try:
        with open(answer_to, "w", encoding="ascii") as output:
            output.write(compact(reply.output) + "\n")
    except OSError:
        return False
    return True
