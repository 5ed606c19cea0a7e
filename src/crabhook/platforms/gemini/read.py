"""Gemini CLI's hook input, read into an Event.

There is no permission mode in it, no agent's name and no id of a call.
"""

from crabhook.model.errors import PayloadError
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value, parse_object


def read_event(payload: bytes) -> Event:
    """Return the event in a hook's standard input, known or not.

    Only the event's name is needed; every other field may be missing or of
    another type than the protocol says, and is then read as empty while
    `fields` keeps it as it came.  Raises PayloadError.
    """
    fields = parse_object(payload)
    name = fields.get("hook_event_name")
    if not isinstance(name, str) or not name:
        raise PayloadError('it has no text "hook_event_name"')
    tool = _text(fields, "tool_name")
    return Event(
        platform="gemini",
        name=name,
        session=_text(fields, "session_id"),
        cwd=_text(fields, "cwd"),
        tool=ToolCall(tool, fields.get("tool_input")) if tool else None,
        fields=fields,
    )


def _text(fields: dict[str, Value], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""
