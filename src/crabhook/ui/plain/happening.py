"""What an event tells beside its tool's input: its own fields, each under its name.

Fields that we know stand one by one; a name that an agent made up is never
one of our labels, so whatever else there is comes as JSON.
"""

from collections.abc import Iterator, Mapping
from json import JSONEncoder

from crabhook.model.elicitation import Field, read_fields
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact
from crabhook.ui.rows import Row, indented

BESIDE = 200  # characters of a text that may stand beside its name
_CHOICES_SHOWN = 100
_PRETTY = JSONEncoder(indent=2, ensure_ascii=False)
_ON_ONE_LINE = JSONEncoder(ensure_ascii=False)

# What every event has, and a card shows elsewhere or not at all; left out where it is a text.
_EVERY_EVENTS = frozenset(
    {
        "session_id",
        "transcript_path",
        "cwd",
        "hook_event_name",
        "prompt_id",
        "turn_id",
        "permission_mode",
        "agent_id",
        "agent_type",
        "scratchpad_dir",
        "timestamp",
    }
)
_THE_TOOLS = frozenset({"tool_name", "tool_input", "tool_use_id"})

# The fields of agents' events by the label they are shown under, in this order.
LABELS: Mapping[str, str] = {
    "message": "message",
    "mcp_server_name": "server",
    "mode": "form mode",
    "url": "url",
    "action": "action",
    "content": "content",
    "prompt": "prompt",
    "last_assistant_message": "last message",
    "prompt_response": "last message",
    "stop_hook_active": "stop_hook_active",
    "background_tasks": "background tasks",
    "session_crons": "session_crons",
    "reason": "reason",
    "error": "error",
    "is_interrupt": "is_interrupt",
    "tool_response": "tool_response",
    "tool_calls": "tool_calls",
    "duration_ms": "duration_ms",
    "source": "source",
    "trigger": "trigger",
    "custom_instructions": "custom_instructions",
    "from_model": "from_model",
    "to_model": "to_model",
    "requested_model": "requested_model",
    "model": "model",
    "file_path": "file",
    "command_name": "command_name",
    "command_args": "command_args",
    "task_subject": "task",
    "task_description": "task_description",
    "teammate_name": "teammate",
    "mcp_server": "mcp_server",
}


def happening_rows(event: Event, longest: int) -> Iterator[Row]:
    """Yield the event's own fields; of any one text past `longest` characters not the middle."""
    rest = {key: value for key, value in event.fields.items() if not _elsewhere(event, key, value)}
    fields = read_fields(event.fields)
    for key, label in LABELS.items():
        if key in rest:
            yield from _labelled(label, rest.pop(key), longest)
        if key == "message" and fields:
            rest.pop("requested_schema", None)
            yield from _form(fields, longest)
    if rest:
        yield from json_rows("other fields", rest, longest)


def json_rows(name: str, value: Value, longest: int) -> Iterator[Row]:
    """Show a value as JSON, written no further than it will be shown."""
    yield Row(f"  {name}:")
    parts: list[str] = []
    size = 0
    for part in _PRETTY.iterencode(value):
        parts.append(part)
        size += len(part)
        if size > longest:
            yield from indented("    ", "".join(parts)[:longest], longest)
            yield Row("  … the rest of it is left out …", shortened=True)
            return
    yield from indented("    ", "".join(parts), longest)


def _elsewhere(event: Event, key: str, value: Value) -> bool:
    """Whether a field is shown elsewhere on the card, or is of no use to whoever decides."""
    if key in _EVERY_EVENTS:
        return isinstance(value, str)
    if key == "permission_suggestions":
        return event.name == "PermissionRequest" and isinstance(value, list)
    return key == "effort" or (event.tool is not None and key in _THE_TOOLS)


def _labelled(label: str, value: Value, longest: int) -> Iterator[Row]:
    """Show a short value beside its label, a long one below it."""
    if isinstance(value, str):
        if len(value) <= BESIDE and "\n" not in value:
            yield Row(f"  {label}: ", value)
            return
        yield Row(f"  {label}:")
        yield from indented("    ", value, longest)
        return
    short = ""
    for part in _ON_ONE_LINE.iterencode(value):
        short += part
        if len(short) > BESIDE // 2:
            yield from json_rows(label, value, longest)
            return
    yield Row(f"  {label}: ", short)


def _form(fields: tuple[Field, ...], longest: int) -> Iterator[Row]:
    """Show what a form asks for: each field with its type, its choices and its default."""
    for field in fields:
        kind = f"{field.kind}, {field.format}" if field.format else field.kind
        parts = [field.name, kind, "required" if field.required else "may be left out"]
        if field.choices:
            parts.append("one of " + ", ".join(_choice(*one) for one in _shown(field)))
        if len(field.choices) > _CHOICES_SHOWN:
            parts.append(f"and {len(field.choices) - _CHOICES_SHOWN} more")
        if field.default is not None:
            parts.append(f"default {compact(field.default)}")
        yield Row("  field: ", " · ".join(parts))
        about = [field.title if field.title != field.name else "", field.description]
        for text in filter(None, about):
            yield from indented("    ", text, longest)


def _shown(field: Field) -> tuple[tuple[Value, str], ...]:
    return field.choices[:_CHOICES_SHOWN]


def _choice(value: Value, name: str) -> str:
    written = _ON_ONE_LINE.encode(value)
    return written if name in (str(value), written) else f"{written} ({name})"
