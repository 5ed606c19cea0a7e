"""A reply as the answer to an HTTP hook, which has no exit code and no standard error (section 9).

Nothing is lost on the way: what blocks by the exit code, on the two events
that know no other (`Way.EXIT`), blocks as well by a top-level decision, which
Claude Code 2.1.330 makes the same of on every event.  What else stands on
standard error is a word for a debug log.
"""

from crabhook.model.jsontext import compact
from crabhook.model.reply import Reply
from crabhook.platforms.claude.write import BLOCKED

PATH = "/hooks/claude"
"""Where a server takes these hooks in."""

STANCE = "X-Crabhook-Stance"
WAIT = "X-Crabhook-Wait"
"""The headers in which our entries say how they were installed, and how many seconds they wait."""


def body(reply: Reply) -> bytes:
    """Return the body that tells Claude Code the same; an empty one is no opinion."""
    output = dict(reply.output or {})
    if reply.exit_code == BLOCKED:
        output |= {"decision": "block", "reason": reply.stderr.strip()}
    return compact(output).encode("ascii") if output else b""
