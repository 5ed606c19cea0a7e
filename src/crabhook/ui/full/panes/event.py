"""What an event tells besides a tool's input, in words: which fields come first, and how each is.

The table names the fields that are shown in words; every other field of an
event follows under "the event itself", so that nothing is left out.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from crabhook.broker.card import Card
from crabhook.broker.stops import CAP
from crabhook.model.decision import Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.ui.text.code import field_rows, plain_rows, value_rows
from crabhook.ui.text.layout import Line, Sheet, framed
from crabhook.ui.text.markdown import mark_rows, marks_of

_A_NAME = 60  # letters of a model's name that stand beside its label

_Tell: TypeAlias = Callable[[str, Value, Sheet], Iterator[Line]]


def told_rows(event: Event, sheet: Sheet) -> Iterator[Line]:
    """Return the event's own fields in words, the telling ones first."""
    for key, (label, tell) in _TOLD.get(event.name, {}).items():
        if key in event.fields:
            yield from tell(label, event.fields[key], sheet)


def told_keys(event: Event) -> frozenset[str]:
    """Return the names of the fields that `told_rows` shows."""
    return frozenset(_TOLD.get(event.name, {}))


def going_rows(card: Card) -> Iterator[Line]:
    """Return how often an agent that wants to stop was told to go on."""
    if Verdict.KEEP_GOING not in card.choices.verdicts:
        return
    if not card.kept_going:
        yield [("", "not kept going so far"), ("dim", f" · {CAP} times in a row are the most")]
    elif card.kept_going < CAP:
        yield [("heading", f"kept going {card.kept_going} of {CAP} times in a row")]
    else:
        yield [("warning", f"! kept going {CAP} of {CAP} times in a row: now it stops anyway")]


def _prose(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show a text as words, in full."""
    if not isinstance(value, str):
        yield from _field(label, value, sheet)
        return
    yield [("label", label)]
    rows = plain_rows(value, sheet.inner, sheet.spell, words=True)
    yield from framed(rows)


def _markdown(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show what a model said."""
    if not isinstance(value, str):
        yield from _field(label, value, sheet)
        return
    yield [("label", label)]
    for mark in marks_of(value):
        yield from framed(mark_rows(mark, sheet.inner, sheet.spell))


def _field(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show a short value beside its label, any other below it."""
    yield from framed(field_rows({label: value}, sheet.inner, sheet.spell))


def _result(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show what a tool gave: its texts as they are, its other fields behind them."""
    if isinstance(value, str):
        yield from _prose(label, value, sheet)
        return
    yield [("label", label)]
    yield from _value(value, sheet)


def _value(value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, dict):
        yield from framed(field_rows(value, sheet.inner, sheet.spell))
    else:
        yield from framed(value_rows(value, sheet.inner, sheet.spell))


def _several(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show a list of things one by one; say so where there are none."""
    if not isinstance(value, list):
        yield from _field(label, value, sheet)
        return
    if not value:
        yield [("dim", f"{label}: none")]
        return
    yield [("label", f"{label}: {len(value)}")]
    for place, item in enumerate(value, 1):
        yield [("dim", f"{place} of {len(value)}")]
        yield from _value(item, sheet)


def _hook_active(_label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    if value is True:
        yield [("", "it goes on already because a hook told it to")]
    elif value is not False:
        yield from _field("stop_hook_active", value, sheet)


def _money(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield [("label", label), ("", f" about ${value:,.4f}")]
    else:
        yield from _field(label, value, sheet)


def _model(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, str) and len(value) <= _A_NAME:
        yield [("label", f"{label} "), ("heading", sheet.spell(value))]
    else:
        yield from _field(label, value, sheet)


def _flag(yes: str, no: str) -> _Tell:
    """Return how a flag is told: in one of two sentences."""

    def tell(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
        if isinstance(value, bool):
            yield [("", yes if value else no)]
        else:
            yield from _field(label, value, sheet)

    return tell


_STOP: Mapping[str, tuple[str, _Tell]] = {
    "last_assistant_message": ("the agent's last message", _markdown),
    "background_tasks": ("background tasks", _several),
    "session_crons": ("scheduled wake-ups", _several),
    "stop_hook_active": ("", _hook_active),
}
_SWITCH: Mapping[str, tuple[str, _Tell]] = {
    "from_model": ("from", _model),
    "to_model": ("to", _model),
    "requested_model": ("asked for", _field),
    "source": ("asked by", _field),
    "estimated_cache_write_usd": ("sending the conversation to it anew costs", _money),
    "context_tokens": ("tokens in the conversation", _field),
    "prompt_cache_warm": (
        "prompt cache warm",
        _flag("the prompt cache is warm: it is lost", "the prompt cache is cold already"),
    ),
}
_TASK: Mapping[str, tuple[str, _Tell]] = {
    "task_subject": ("task", _prose),
    "task_description": ("description", _prose),
    "teammate_name": ("teammate", _field),
    "task_id": ("task id", _field),
}

# Of each event the fields to read first, in this order: what they are called, and how they are
# shown.  A field that is called by its own name only needs its place.
_TOLD: Mapping[str, Mapping[str, tuple[str, _Tell]]] = {
    "PostToolUse": {
        "tool_response": ("the tool gave", _result),
        "duration_ms": ("milliseconds it took", _field),
    },
    "PostToolUseFailure": {
        "error": ("the tool failed", _prose),
        "is_interrupt": ("interrupted", _flag("it was interrupted", "it was not interrupted")),
        "duration_ms": ("milliseconds it took", _field),
    },
    "PostToolBatch": {"tool_calls": ("calls that were made", _several)},
    "PermissionDenied": {"reason": ("the agent denied it, because", _prose)},
    "UserPromptSubmit": {"prompt": ("the prompt", _prose)},
    "UserPromptExpansion": {
        "prompt": ("the prompt", _prose),
        "command_name": ("command", _field),
        "command_args": ("its arguments", _field),
        "command_source": ("it comes from", _field),
        "expansion_type": ("kind", _field),
    },
    "Stop": _STOP,
    "SubagentStop": {"agent_type": ("the subagent", _field), **_STOP},
    "SubagentStart": {"agent_type": ("the subagent", _field)},
    "TeammateIdle": {"teammate_name": ("teammate", _field), "team_name": ("team", _field)},
    "TaskCreated": _TASK,
    "TaskCompleted": _TASK,
    "PreCompact": {
        "trigger": ("compacting, asked for", _field),
        "custom_instructions": ("instructions", _prose),
    },
    "ConfigChange": {
        "source": ("settings that changed", _field),
        "file_path": ("file", _field),
    },
    "PreModelSwitch": _SWITCH,
    "PostModelSwitch": _SWITCH,
    "SessionStart": {"source": ("started by", _field), "model": ("model", _model)},
    # Gemini CLI's
    "AfterTool": {"tool_response": ("the tool gave", _result)},
    "BeforeAgent": {"prompt": ("the prompt", _prose)},
    "AfterAgent": {
        "prompt_response": ("the agent's last message", _markdown),
        "prompt": ("the prompt", _prose),
        "stop_hook_active": ("", _hook_active),
    },
    "Setup": {"trigger": ("set up for", _field)},
}
