"""A request in full: every field of its event, the most telling fields first and laid out best.

Nothing an agent sent is left out here: each way to show a tool's input names
the fields it has shown, and the others follow as they are.  Which fields of an
event come first, and how each is shown, is in the agent's own table of events
(`Event.told`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from crabhook.broker.cards import Card
from crabhook.broker.orders import CAP
from crabhook.model.decision import Verdict
from crabhook.model.event import Event, How, Told
from crabhook.model.jsontext import Value
from crabhook.ui.cards.context import (
    CardContext,
    before_rows,
    reason_rows,
    suggestion_rows,
    words_rows,
)
from crabhook.ui.cards.summary import is_plan, names_plan
from crabhook.ui.text.code import field_rows, plain_rows, shell_rows, value_rows
from crabhook.ui.text.diff import added_rows, edit_rows, patch_rows
from crabhook.ui.text.layout import Content, Line, Sheet, framed, page
from crabhook.ui.text.markdown import mark_rows, marks_of
from crabhook.ui.text.safe import hidden

_A_NAME = 60  # letters of a model's name that stand beside its label


def told_rows(event: Event, sheet: Sheet) -> Iterator[Line]:
    """Return the event's own fields in words, the most telling fields first."""
    for key, told in event.told.items():
        if key in event.fields:
            value = event.fields[key]
            fits, rows = _SHOW[told.how]
            yield from (rows if fits(value) else _field)(told, value, sheet)


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


def _field(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show a short value beside its label, any other below it."""
    yield from framed(field_rows({told.label: value}, sheet.inner, sheet.spell))


# The other ways to show a field; a value of a type that a way is not for is shown by `_field`.


def _prose(told: Told, value: str, sheet: Sheet) -> Iterator[Line]:
    """Show a text as words, in full."""
    yield [("label", told.label)]
    yield from framed(plain_rows(value, sheet.inner, sheet.spell, words=True))


def _markdown(told: Told, value: str, sheet: Sheet) -> Iterator[Line]:
    """Show what a model said."""
    yield [("label", told.label)]
    for mark in marks_of(value):
        yield from framed(mark_rows(mark, sheet.inner, sheet.spell))


def _result(told: Told, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show what a tool gave: its texts as they are, its other fields behind them."""
    if isinstance(value, str):
        yield from _prose(told, value, sheet)
    else:
        yield [("label", told.label)]
        yield from _value(value, sheet)


def _value(value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, dict):
        yield from framed(field_rows(value, sheet.inner, sheet.spell))
    else:
        yield from framed(value_rows(value, sheet.inner, sheet.spell))


def _several(told: Told, value: list[Value], sheet: Sheet) -> Iterator[Line]:
    """Show a list of things one by one; say so where there are none."""
    if not value:
        yield [("dim", f"{told.label}: none")]
        return
    yield [("label", f"{told.label}: {len(value)}")]
    for place, item in enumerate(value, 1):
        yield [("dim", f"{place} of {len(value)}")]
        yield from _value(item, sheet)


def _money(told: Told, value: float, _: Sheet) -> Iterator[Line]:
    yield [("label", told.label), ("", f" about ${value:,.4f}")]


def _model(told: Told, value: str, sheet: Sheet) -> Iterator[Line]:
    yield [("label", f"{told.label} "), ("heading", sheet.spell(value))]


def _flag(told: Told, value: bool, _: Sheet) -> Iterator[Line]:  # noqa: FBT001 - the value shown
    """Show true or false as one of two sentences; an empty sentence is not shown."""
    if said := told.yes if value else told.no:
        yield [("", said)]


def _is(kind: type) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, kind)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_Show: TypeAlias = Callable[[Told, Any, Sheet], Iterator[Line]]
_SHOW: Mapping[How, tuple[Callable[[Value], bool], _Show]] = {
    How.FIELD: (lambda _: True, _field),
    How.PROSE: (_is(str), _prose),
    How.MARKDOWN: (_is(str), _markdown),
    How.SEVERAL: (_is(list), _several),
    How.RESULT: (lambda _: True, _result),
    How.MONEY: (_is_number, _money),
    How.MODEL: (lambda value: isinstance(value, str) and len(value) <= _A_NAME, _model),
    How.FLAG: (_is(bool), _flag),
}


LOOKED_AT = 100_000  # letters of a text in which hidden ones are counted
_PATCH = "*** Begin Patch"
_NOTHING = CardContext()

_Input: TypeAlias = dict[str, Any]


def request_page(card: Card, around: CardContext = _NOTHING) -> Content:
    """Return the request, with what is known around it."""
    key = card.number, tuple(leg.id for leg in card.requests)
    return page(key, lambda sheet: request_rows(card, sheet, around), (around, card.kept_going))


def rows_in_full(card: Card, sheet: Sheet) -> Iterator[Line]:
    """Return the request under a title of its own, below what was made of it."""
    yield from _title("the request in full")
    yield from request_rows(card, sheet)


def request_rows(card: Card, sheet: Sheet, around: CardContext = _NOTHING) -> Iterator[Line]:
    """Return all there is to read about a card."""
    first, *others = [request.event for request in card.requests]
    yield from _warning(first)
    yield from reason_rows(card, sheet)
    yield from going_rows(card)
    if first.tool is not None:
        yield from _tool_input(first, first.tool.input, sheet)
    yield from told_rows(first, sheet)
    yield from before_rows(around.before, sheet)
    yield from suggestion_rows(card, sheet)
    for event in others:
        yield from _other_leg(first, event, sheet)
    yield from words_rows(around, sheet)
    yield from _title("the event itself")
    yield from framed(field_rows(_rest(first), sheet.inner, sheet.spell))
    origin = {name: said for name, said in asdict(card.requests[0].origin).items() if said}
    if origin:
        yield from _title("sent by, as it says itself")
        yield from framed(field_rows(origin, sheet.inner, sheet.spell))


def _title(text: str) -> Iterator[Line]:
    yield [("label", text)]


def _warning(event: Event) -> Iterator[Line]:
    """Say how many letters hide, so that a lone mark in a long text is not passed over."""
    tool_input = event.tool.input if event.tool else None
    texts = tool_input.values() if isinstance(tool_input, dict) else [tool_input]
    count = sum(hidden(text[:LOOKED_AT]) for text in texts if isinstance(text, str))
    if count:
        what = "letter is invisible or acts" if count == 1 else "letters are invisible or act"
        yield [("warning", f"! {count} {what} on a terminal; marks are shown instead")]


def _tool_input(event: Event, value: Value, sheet: Sheet) -> Iterator[Line]:
    if not isinstance(value, dict):
        yield from _title("input")
        yield from framed(value_rows(value, sheet.inner, sheet.spell))
        return
    if is_plan(event) and not value.get("plan") and not names_plan(event):
        yield [("dim", "this event carries no plan; the PermissionRequest of the same call does")]
    shape = next((one for one in SHAPES if one.fits(value)), None)
    if shape:
        yield from shape.rows(value, sheet)
    rest = {key: item for key, item in value.items() if not shape or key not in shape.shown}
    if rest:
        yield from _title("with" if shape else "input")
        yield from framed(field_rows(rest, sheet.inner, sheet.spell))


def _other_leg(first: Event, event: Event, sheet: Sheet) -> Iterator[Line]:
    """Return what another hook of the same call asks about beyond the first."""
    yield from _title(f"asked again as {sheet.spell(event.name)}")
    known = first.tool.input if first.tool and isinstance(first.tool.input, dict) else {}
    asked = event.tool.input if event.tool else None
    if isinstance(asked, dict):
        asked = {key: item for key, item in asked.items() if known.get(key, _ABSENT) != item}
    if event.tool is not None and asked:
        yield from _tool_input(event, asked, sheet)
    fields = _rest(event)
    told = {key: item for key, item in fields.items() if first.fields.get(key, _ABSENT) != item}
    yield from framed(field_rows(told, sheet.inner, sheet.spell))


_ABSENT = object()
_SHOWN_ABOVE = frozenset({"tool_input", "tool_name", "hook_event_name"})


def _rest(event: Event) -> Mapping[str, Value]:
    above = _SHOWN_ABOVE | event.told.keys()
    return {key: value for key, value in event.fields.items() if key not in above}


# The ways to show a tool's input, chosen by its fields and not by the tool's
# name: agents name their tools differently and their fields much alike.


def _texts(*keys: str) -> Callable[[_Input], bool]:
    """Return the condition that an input has a text under each of the keys."""
    return lambda value: all(isinstance(value.get(key), str) for key in keys)


def _has_edits(value: _Input) -> bool:
    edits = value.get("edits")
    return isinstance(edits, list) and all(
        isinstance(edit, dict) and _texts(*_EDIT)(edit) for edit in edits
    )


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to show a tool's input: which inputs it is for, how, and which fields that shows."""

    fits: Callable[[_Input], bool]
    rows: Callable[[_Input, Sheet], Iterator[Line]]
    shown: frozenset[str]


def _command(value: _Input, sheet: Sheet) -> Iterator[Line]:
    text = value["command"]
    rows = patch_rows if text.startswith(_PATCH) else shell_rows
    yield from framed(rows(text, sheet.inner, sheet.spell))


def _described_command(value: _Input, sheet: Sheet) -> Iterator[Line]:
    yield from _command(value, sheet)
    yield from _title("the agent says")
    yield from framed(plain_rows(value["description"], sheet.inner, sheet.spell, words=True))


def _edit(value: _Input, sheet: Sheet) -> Iterator[Line]:
    yield from _path("edits", value["file_path"], sheet)
    yield from _change(value, sheet)


def _edits(value: _Input, sheet: Sheet) -> Iterator[Line]:
    yield from _path("edits", value["file_path"], sheet)
    for place, edit in enumerate(value["edits"], 1):
        yield from _title(f"edit {place} of {len(value['edits'])}")
        yield from _change(edit, sheet)
        rest = {key: item for key, item in edit.items() if key not in _EDIT}
        yield from framed(field_rows(rest, sheet.inner, sheet.spell))


def _change(edit: _Input, sheet: Sheet) -> Iterator[Line]:
    yield from framed(edit_rows(edit["old_string"], edit["new_string"], sheet.inner, sheet.spell))


def _write(value: _Input, sheet: Sheet) -> Iterator[Line]:
    yield from _path("writes the whole of", value["file_path"], sheet)
    yield from framed(added_rows(value["content"], sheet.inner, sheet.spell))


def _notebook(value: _Input, sheet: Sheet) -> Iterator[Line]:
    yield from _path("edits a cell of", value["notebook_path"], sheet)
    yield from framed(added_rows(value["new_source"], sheet.inner, sheet.spell))


def _plan(value: _Input, sheet: Sheet) -> Iterator[Line]:
    for mark in marks_of(value["plan"]):
        yield from framed(mark_rows(mark, sheet.inner, sheet.spell))


def _path(what: str, path: str, sheet: Sheet) -> Iterator[Line]:
    yield from _title(what)
    yield from framed(plain_rows(path, sheet.inner, sheet.spell, style="name"))


_EDIT = ("old_string", "new_string")


def _shape(rows: Callable[[_Input, Sheet], Iterator[Line]], *keys: str) -> Shape:
    return Shape(_texts(*keys), rows, frozenset(keys))


SHAPES = (
    _shape(_edit, "file_path", *_EDIT),
    Shape(
        lambda value: _texts("file_path")(value) and _has_edits(value),
        _edits,
        frozenset({"file_path", "edits"}),
    ),
    _shape(_write, "file_path", "content"),
    _shape(_notebook, "notebook_path", "new_source"),
    _shape(_described_command, "command", "description"),
    _shape(_command, "command"),
    _shape(_plan, "plan"),
)
