"""Codex's hook input, read into an Event."""

from crabhook.model.errors import PayloadError
from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value, parse_object

# PermissionRequest adds the model's justification to the input of these tools,
# which PreToolUse and PostToolUse of the same call do not have.
_JUSTIFIED_TOOLS = frozenset({"Bash", "apply_patch"})
_JUSTIFICATION = "description"
# Of a command that already runs it asks whether it may reach a host, in the
# same place.  That is another question than the command's own, so it stays
# part of what is asked, and no answer about the command is given to it.
_ANOTHER_QUESTION = "network-access "


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
        platform="codex",
        name=name,
        session=_text(fields, "session_id"),
        cwd=_text(fields, "cwd"),
        permission_mode=_text(fields, "permission_mode"),
        agent_id=_text(fields, "agent_id"),
        agent_type=_text(fields, "agent_type"),
        tool=_tool(fields, name),
        fields=fields,
    )


def _tool(fields: dict[str, Value], event: str) -> ToolCall | None:
    name = _text(fields, "tool_name")
    if not name:
        return None
    given = fields.get("tool_input")
    justified = event == "PermissionRequest" and name in _JUSTIFIED_TOOLS
    comments = frozenset({_JUSTIFICATION}) if justified and _justifies(given) else frozenset()
    return ToolCall(name, given, _text(fields, "tool_use_id"), comments)


def _justifies(given: Value) -> bool:
    """Whether what stands beside a command says why, and does not ask something else."""
    said = given.get(_JUSTIFICATION) if isinstance(given, dict) else None
    return isinstance(said, str) and not said.startswith(_ANOTHER_QUESTION)


def _text(fields: dict[str, Value], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""
