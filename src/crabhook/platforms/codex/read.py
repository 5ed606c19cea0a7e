"""Codex's hook input, read into an Event."""

from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import Value
from crabhook.platforms.hookinput import EVENT, read_fields, text

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
    fields = read_fields(payload)
    return Event(
        platform="codex",
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
    given = fields.get("tool_input")
    justified = text(fields, EVENT) == "PermissionRequest" and name in _JUSTIFIED_TOOLS
    comments = frozenset({_JUSTIFICATION}) if justified and _justifies(given) else frozenset()
    return ToolCall(name, given, text(fields, "tool_use_id"), comments)


def _justifies(given: Value) -> bool:
    """Whether what stands beside a command says why, and does not ask something else."""
    said = given.get(_JUSTIFICATION) if isinstance(given, dict) else None
    return isinstance(said, str) and not said.startswith(_ANOTHER_QUESTION)
