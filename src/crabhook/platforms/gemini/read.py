"""Gemini CLI's hook input, read into an Event.

There is no permission mode in it, no agent's name and no id of a call.
"""

from crabhook.model.event import Event, ToolCall
from crabhook.platforms.hookinput import EVENT, read_fields, text


def read_event(payload: bytes) -> Event:
    """Return the event in a hook's standard input, known or not.

    Only the event's name is needed; every other field may be missing or of
    another type than the protocol says, and is then read as empty while
    `fields` keeps it as it came.  Raises PayloadError.
    """
    fields = read_fields(payload)
    tool = text(fields, "tool_name")
    return Event(
        platform="gemini",
        name=text(fields, EVENT),
        session=text(fields, "session_id"),
        cwd=text(fields, "cwd"),
        tool=ToolCall(tool, fields.get("tool_input")) if tool else None,
        fields=fields,
    )
