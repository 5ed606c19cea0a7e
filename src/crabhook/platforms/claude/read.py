"""Claude Code's hook input, read into an Event (hook protocol, section 2.1)."""

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
    return Event(
        platform="claude",
        name=name,
        session=_text(fields, "session_id"),
        cwd=_text(fields, "cwd"),
        permission_mode=_text(fields, "permission_mode"),
        agent_id=_text(fields, "agent_id"),
        agent_type=_text(fields, "agent_type"),
        tool=_tool(fields),
        fields=fields,
    )


def _tool(fields: dict[str, Value]) -> ToolCall | None:
    name = _text(fields, "tool_name")
    if not name:
        return None
    return ToolCall(name, fields.get("tool_input"), _text(fields, "tool_use_id"))


def _text(fields: dict[str, Value], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""
