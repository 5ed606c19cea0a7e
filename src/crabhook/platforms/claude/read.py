"""Claude Code's hook input, read into an Event (hook protocol, section 2.1)."""

from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value
from crabhook.platforms.hookinput import EVENT, read_fields, text


def read_event(payload: bytes) -> Event:
    """Return the event in a hook's standard input, known or not.

    Only the event's name is needed; every other field may be missing or of
    another type than the protocol says, and is then read as empty while
    `fields` keeps it as it came.  Raises PayloadError.
    """
    fields = read_fields(payload)
    return Event(
        platform="claude",
        name=text(fields, EVENT),
        session=text(fields, "session_id"),
        cwd=text(fields, "cwd"),
        permission_mode=text(fields, "permission_mode"),
        agent_id=text(fields, "agent_id"),
        agent_type=text(fields, "agent_type"),
        tool=_tool(fields),
        fields=fields,
    )


def _tool(fields: dict[str, Value]) -> ToolCall | None:
    name = text(fields, "tool_name")
    if not name:
        return None
    return ToolCall(name, fields.get("tool_input"), text(fields, "tool_use_id"))
