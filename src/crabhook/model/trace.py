"""The trace that an agent's call belongs to, as its hook's environment names it.

Source: W3C Trace Context, level 1, version 00.
"""

import re

_PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


def trace_parent(text: str) -> tuple[str, str] | None:
    """Return the ids of trace and parent in a TRACEPARENT; None for any other text."""
    if not (parent := _PARENT.fullmatch(text)):
        return None
    trace, span = parent.groups()
    return None if set(trace) == {"0"} or set(span) == {"0"} else (trace, span)
