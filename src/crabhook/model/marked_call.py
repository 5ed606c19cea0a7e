"""The marked call of `crabhook prove`, which a server denies at once, to show that a denial holds.

A server answers it before any rule, card, record or count of decisions, and always with a denial.
So an agent that forges the mark gains a denial, and nothing else.
"""

import re

from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import compact

MARK = "crabhook_prove"
"""The member of a hook's input that marks its call: 32 hexadecimal digits."""

PROVES = "Marked calls are denied"
"""What a server that knows marked calls says of itself where it refuses a platform."""

_DIGITS = re.compile("[0-9a-f]{32}")


def mark_of(event: Event) -> str:
    """Return the mark of an event; empty for any ordinary event."""
    mark = event.text(MARK)
    return mark if _DIGITS.fullmatch(mark) else ""


def denial(mark: str) -> Decision:
    """Return the decision about a marked call, whose reason has the mark."""
    return Decision(
        Verdict.DENY, f"crabhook prove: this call was denied to show that it can ({mark})"
    )


def marked_call(event: str, folder: str, mark: str) -> bytes:
    """Return the input of a hook about a call of this event, in a folder, that would do nothing."""
    return compact(
        {
            "session_id": "crabhook-prove",
            "cwd": folder,
            "hook_event_name": event,
            "tool_name": "Bash",
            "tool_input": {"command": "true"},
            "tool_use_id": "crabhook-prove",
            MARK: mark,
        }
    ).encode()
