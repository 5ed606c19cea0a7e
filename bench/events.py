"""What the hooks are given: events recorded from the real agent, made new for every call."""

import json
from pathlib import Path
from secrets import token_hex

_RECORDED = Path(__file__).parents[1] / "tests" / "samples" / "claude"

DECIDED_EVENT = "PreToolUse-Bash"
OBSERVED_EVENT = "Stop"

# A session that begins so is left waiting by the operator of bench.server,
# and of one that begins with WATCHED its coming and going are reported.
LEFT_WAITING = "waiting-"
WATCHED = LEFT_WAITING + "watched-"


def new_call(sample: str, session_prefix: str = "") -> bytes:
    """Return the recorded event `sample` as another call of a tool, in a session of its own.

    One line, as the agent writes it: the samples are indented for people.
    """
    event = json.loads((_RECORDED / f"{sample}.json").read_text(encoding="utf-8"))
    event["session_id"] = f"{session_prefix}{token_hex(16)}"
    if "tool_use_id" in event:
        event["tool_use_id"] = f"toolu_{token_hex(12)}"
    return json.dumps(event, separators=(",", ":")).encode()
