"""What a request asks for, as rows of the plain desk: the tool's input, then the other fields.

Commands stand line by line, changes as diffs.  Fields that we know stand one
by one under a label; a name that an agent made up is never one of our labels,
so whatever else there is comes as JSON.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from crabhook.model.elicitation import Field, read_fields
from crabhook.model.errors import QuestionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact
from crabhook.model.question import Question, read_questions
from crabhook.ui.cards.summary import is_question, json_start
from crabhook.ui.text.compare import Side, compared
from crabhook.ui.text.rows import Row, indented

BESIDE = 200  # characters of a text that may stand beside its name
_CHOICES_SHOWN = 100
# What every event has, and a card shows elsewhere or not at all; left out where it is a text.
_EVERY_EVENTS = frozenset(
    [
        *("session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "turn_id"),
        *("permission_mode", "agent_id", "agent_type", "scratchpad_dir", "timestamp"),
    ]
)
_THE_TOOLS = frozenset({"tool_name", "tool_input", "tool_use_id"})

# The fields of agents' events that are shown under a label, in this order; an agent's own table
# of events may name more (`Told.short`).
_OWN_LABELS = {
    "mcp_server_name": "server",
    "mode": "form mode",
    "last_assistant_message": "last message",
    "prompt_response": "last message",
    "background_tasks": "background tasks",
    "file_path": "file",
    "task_subject": "task",
    "teammate_name": "teammate",
}
_LABELLED = (
    *("message", "mcp_server_name", "mode", "url", "action", "content"),
    *("prompt", "last_assistant_message", "prompt_response", "stop_hook_active"),
    *("background_tasks", "session_crons", "reason", "error", "is_interrupt"),
    *("tool_response", "tool_calls", "duration_ms", "source", "trigger", "custom_instructions"),
    *("from_model", "to_model", "requested_model", "model"),
    *("file_path", "command_name", "command_args"),
    *("task_subject", "task_description", "teammate_name", "mcp_server"),
)
LABELS: Mapping[str, str] = {key: _OWN_LABELS.get(key, key) for key in _LABELLED}


def happening_rows(event: Event, longest: int) -> Iterator[Row]:
    """Yield the event's own fields; of any one text past `longest` characters not the middle."""
    rest = {key: value for key, value in event.fields.items() if not _elsewhere(event, key, value)}
    fields = read_fields(event.fields)
    own = {key: told.short for key, told in event.told.items() if key not in LABELS and told.short}
    for key, label in {**LABELS, **own}.items():
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
    written = json_start(value, longest, indent=2)
    yield from indented("    ", written[:longest], longest)
    if len(written) > longest:
        yield Row("  … the rest of it is left out …", shortened=True)


def _elsewhere(event: Event, key: str, value: Value) -> bool:
    """Whether a field is shown elsewhere on the card, or helps nobody to decide."""
    if key in _EVERY_EVENTS:
        return isinstance(value, str)
    if key == "permission_suggestions":
        return event.name == "PermissionRequest" and isinstance(value, list)
    return key == "effort" or (event.tool is not None and key in _THE_TOOLS)


def _labelled(label: str, value: Value, longest: int) -> Iterator[Row]:
    """Show a short value beside its label, a long value below it."""
    if not isinstance(value, str):
        short = json_start(value, BESIDE // 2)
        if len(short) > BESIDE // 2:
            yield from json_rows(label, value, longest)
        else:
            yield Row(f"  {label}: ", short)
    elif len(value) <= BESIDE and "\n" not in value:
        yield Row(f"  {label}: ", value)
    else:
        yield Row(f"  {label}:")
        yield from indented("    ", value, longest)


def _form(fields: tuple[Field, ...], longest: int) -> Iterator[Row]:
    """Show what a form asks for: each field with its type, its choices and its default."""
    for field in fields:
        kind = f"{field.kind}, {field.format}" if field.format else field.kind
        parts = [field.name, kind, "required" if field.required else "may be left out"]
        if field.choices:
            shown = field.choices[:_CHOICES_SHOWN]
            parts.append("one of " + ", ".join(_choice(*choice) for choice in shown))
        if len(field.choices) > _CHOICES_SHOWN:
            parts.append(f"and {len(field.choices) - _CHOICES_SHOWN} more")
        if field.default is not None:
            parts.append(f"default {compact(field.default)}")
        yield Row("  field: ", " · ".join(parts))
        about = [field.title if field.title != field.name else "", field.description]
        for text in filter(None, about):
            yield from indented("    ", text, longest)


def _choice(value: Value, name: str) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if name in (str(value), written) else f"{written} ({name})"


_SIGNS = {Side.KEPT: "     ", Side.REMOVED: "    -", Side.ADDED: "    +"}
_COMPARED_LINES = 400  # past these, finding what two texts share costs more than it tells

_Input: TypeAlias = dict[str, Value]
_Show: TypeAlias = Callable[[_Input, int], Iterator[Row]]


def given_rows(event: Event, longest: int) -> Iterator[Row]:
    """Yield all that the event's tool is given, then what the event tells beside it.

    Of any one text past `longest` characters the middle is left out, and the
    row in its place says so.
    """
    given = event.tool.input if event.tool is not None else None
    if isinstance(given, dict):
        rest = dict(given)
        if is_question(event):
            yield from _questions(rest, longest)
        for key, show in _PARTS:
            if key in rest:
                yield from show(rest, longest)
        if rest or not given:
            whole = len(rest) == len(given)
            yield from json_rows("input" if whole else "other input", rest, longest)
    elif event.tool is not None:
        yield from json_rows("input", given, longest)
    yield from happening_rows(event, longest)


def _questions(rest: _Input, longest: int) -> Iterator[Row]:
    """Show the questions, or why they cannot be read; then they are shown as they came."""
    try:
        questions = read_questions(rest)
    except QuestionError as error:
        yield Row("  these questions cannot be read: ", str(error))
        return
    del rest["questions"]
    for number, question in enumerate(questions, 1):
        heading = f"{question.header}: " if question.header else ""
        yield Row(f"  {number}. ", heading + question.text, f" ({_kind(question)})")
        for place, option in enumerate(question.options, 1):
            told = f" — {option.description}" if option.description else ""
            yield Row(f"     {place}) ", option.label + told)
            if option.preview:
                yield from indented(" " * 8, option.preview, longest)


def _kind(question: Question) -> str:
    if question.options:
        return "several" if question.several else "one"
    return "own words, a number" if question.kind == "number" else "own words"


def _text(key: str, indent: str = "") -> _Show:
    """Show the text `key` behind its name; or under it, line by line, each behind `indent`."""

    def show(rest: _Input, longest: int) -> Iterator[Row]:
        text = rest[key]
        if not isinstance(text, str):
            return
        del rest[key]
        if not indent:
            yield Row(f"  {key}: ", text)
            return
        yield Row(f"  {key}:")
        yield from indented(indent, text, longest)

    return show


def _change(rest: _Input, longest: int) -> Iterator[Row]:
    """Show what goes and what comes, marked as a unified diff marks it."""
    old, new = rest["old_string"], rest.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return
    del rest["old_string"], rest["new_string"]
    yield Row("  change:")
    few = old.count("\n") + new.count("\n") <= _COMPARED_LINES
    if few and len(old) + len(new) <= longest:
        changes = compared(old.split("\n"), new.split("\n"))
        yield from (Row(_SIGNS[side], line) for side, line in changes)
    else:
        yield from indented("    -", old, longest)
        yield from indented("    +", new, longest)


def _changes(rest: _Input, longest: int) -> Iterator[Row]:
    """Show a list of changes one by one; a list of anything else stays in the input."""
    edits = rest["edits"]
    if not isinstance(edits, list):
        return
    changes = [dict(edit) for edit in edits if isinstance(edit, dict) and "old_string" in edit]
    if not changes or len(changes) < len(edits):
        return
    del rest["edits"]
    for number, change in enumerate(changes, 1):
        yield Row(f"  {number} of {len(changes)}:")
        yield from _change(change, longest)
        if change:
            yield from json_rows("with", change, longest)


# Which fields of any tool's input are shown as more than JSON, in this order.
# Each takes what it shows out of the input, and leaves what it cannot show.
_PARTS: tuple[tuple[str, _Show], ...] = (
    ("file_path", _text("file_path")),
    ("notebook_path", _text("notebook_path")),
    ("command", _text("command", "    ")),
    ("description", _text("description")),
    ("old_string", _change),
    ("edits", _changes),
    ("content", _text("content", "    +")),
    ("new_source", _text("new_source", "    +")),
    ("plan", _text("plan", "    ")),
    ("prompt", _text("prompt", "    ")),
)
