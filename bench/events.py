"""What the hooks are given: events recorded from the real agent, made new for every call."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

_RECORDED = Path(__file__).parents[1] / "tests" / "samples" / "claude"

DECIDED_EVENT = "PreToolUse-Bash"
OBSERVED_EVENT = "Stop"
WRITING_EVENT = "PreToolUse-Write"

# A session that begins so is left waiting by the operator of bench.server,
# and of one that begins with WATCHED its coming and going are reported.
LEFT_WAITING = "waiting-"
WATCHED = LEFT_WAITING + "watched-"

# Only an answer releases these: rules never decide them.
_ASKING = ("AskUserQuestion", "ExitPlanMode")


def calls_of_tools() -> Sequence[str]:
    """Return the names of the recorded events before a call of a tool that rules can decide."""
    names = sorted(path.stem for path in _RECORDED.glob("PreToolUse-*.json"))
    return [name for name in names if not any(tool in name for tool in _ASKING)]


def new_call(
    sample: str,
    session_prefix: str = "",
    *,
    session: str = "",
    tool_input: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the recorded event `sample` as another call of a tool, in a session of its own.

    Or in the session that is given; `tool_input` is put over the recorded one.
    One line, as the agent writes it: the samples are indented for people.
    """
    event = json.loads((_RECORDED / f"{sample}.json").read_text(encoding="utf-8"))
    event["session_id"] = session or f"{session_prefix}{token_hex(16)}"
    if "tool_use_id" in event:
        event["tool_use_id"] = f"toolu_{token_hex(12)}"
    if tool_input is not None:
        event["tool_input"] |= tool_input
    return json.dumps(event, separators=(",", ":")).encode()
