"""A request in full: every field of its event, the most telling fields first and laid out best.

Nothing an agent sent is left out here: each way to show a tool's input names
the fields it has shown, and the others follow as they are.  Which fields of an
event come first, and how each is shown, is in the agent's own table of events
(`Event.told`).
"""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import asdict

from crabhook.model.card import Card
from crabhook.model.decision import Verdict
from crabhook.model.event import Event, How, Told
from crabhook.model.jsontext import Value
from crabhook.model.order import CAP
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
from crabhook.ui.text.layout import Content, Item, Line, Sheet, framed, page
from crabhook.ui.text.markdown import mark_rows, marks_of
from crabhook.ui.text.safe import hidden

_A_NAME = 60  # letters of a model's name that stand beside its label
LOOKED_AT = 100_000  # letters of a text in which hidden ones are counted
_PATCH = "*** Begin Patch"
_NOTHING = CardContext()
_ABSENT = object()
_SHOWN_ABOVE = frozenset({"tool_input", "tool_name", "hook_event_name"})


def request_page(card: Card, around: CardContext = _NOTHING) -> Content:
    """Return the request, with what is known around it."""
    key = card.number, tuple(leg.id for leg in card.requests)
    return page(key, lambda sheet: request_rows(card, sheet, around), (around, card.kept_going))


def in_full(card: Card, *, apart: bool = False) -> Item:
    """Return the request as the last item of what was made of it; `apart`: behind an empty row."""
    legs = tuple(leg.id for leg in card.requests)
    key = card.number, legs, "in full"
    return Item(key, lambda sheet: rows_in_full(card, sheet, apart=apart))


def rows_in_full(card: Card, sheet: Sheet, *, apart: bool = True) -> Iterator[Line]:
    """Return the request under a title of its own, below what was made of it."""
    yield from [[]] if apart else []
    yield from _title("the request in full")
    yield from request_rows(card, sheet)


def request_rows(card: Card, sheet: Sheet, around: CardContext = _NOTHING) -> Iterator[Line]:
    """Return all there is to read about a card."""
    first, *others = [request.event for request in card.requests]
    yield from _warning(first)
    yield from reason_rows(card, sheet)
    yield from _going(card)
    if first.tool is not None:
        yield from _tool_input(first, first.tool.input, sheet)
    for key, told in first.told.items():
        if key in first.fields:
            yield from _field(told, first.fields[key], sheet)
    yield from before_rows(around.before, sheet)
    yield from suggestion_rows(card, sheet)
    for event in others:
        yield from _other_leg(first, event, sheet)
    yield from words_rows(around, sheet)
    yield from _title("the event itself")
    yield from _value(_rest(first), sheet)
    origin = {name: said for name, said in asdict(card.requests[0].origin).items() if said}
    if origin:
        yield from _title("sent by, as it says itself")
        yield from _value(origin, sheet)


def _title(text: str) -> Iterator[Line]:
    yield [("label", text)]


def _value(value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, dict):
        yield from framed(field_rows(value, sheet.inner, sheet.spell))
    else:
        yield from framed(value_rows(value, sheet.inner, sheet.spell))


def _prose(text: str, sheet: Sheet) -> Iterator[Line]:
    yield from framed(plain_rows(text, sheet.inner, sheet.spell, words=True))


def _markdown(text: str, sheet: Sheet) -> Iterator[Line]:
    for mark in marks_of(text):
        yield from framed(mark_rows(mark, sheet.inner, sheet.spell))


def _warning(event: Event) -> Iterator[Line]:
    """Say how many letters hide, so that a lone mark in a long text is not passed over."""
    tool_input = event.tool.input if event.tool else None
    texts = tool_input.values() if isinstance(tool_input, dict) else [tool_input]
    count = sum(hidden(text[:LOOKED_AT]) for text in texts if isinstance(text, str))
    if count:
        what = "letter is invisible or acts" if count == 1 else "letters are invisible or act"
        yield [("warning", f"! {count} {what} on a terminal; marks are shown instead")]


def _going(card: Card) -> Iterator[Line]:
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
    """Show a field of the event in its own way; a value of another type as any field."""
    match told.how, value:
        case How.PROSE | How.RESULT, str(text):
            yield from _title(told.label)
            yield from _prose(text, sheet)
        case How.MARKDOWN, str(text):
            yield from _title(told.label)
            yield from _markdown(text, sheet)
        case How.RESULT, _:
            yield from _title(told.label)
            yield from _value(value, sheet)
        case How.SEVERAL, list(items):
            yield from _several(told.label, items, sheet)
        case How.MONEY, int(amount) | float(amount) if not isinstance(amount, bool):
            yield [("label", told.label), ("", f" about ${amount:,.4f}")]
        case How.MODEL, str(name) if len(name) <= _A_NAME:
            yield [("label", f"{told.label} "), ("heading", sheet.spell(name))]
        case How.FLAG, bool(flag):
            said = told.yes if flag else told.no
            yield from [[("", said)]] if said else []
        case _:
            yield from _value({told.label: value}, sheet)


def _several(label: str, items: list[Value], sheet: Sheet) -> Iterator[Line]:
    """Show a list of things one by one; say so where there are none."""
    if not items:
        yield [("dim", f"{label}: none")]
        return
    yield from _title(f"{label}: {len(items)}")
    for place, item in enumerate(items, 1):
        yield [("dim", f"{place} of {len(items)}")]
        yield from _value(item, sheet)


def _other_leg(first: Event, event: Event, sheet: Sheet) -> Iterator[Line]:
    """Return what another hook of the same call asks about beyond the first."""
    yield from _title(f"asked again as {sheet.spell(event.name)}")
    known = first.tool.input if first.tool and isinstance(first.tool.input, dict) else {}
    asked = event.tool.input if event.tool else None
    if isinstance(asked, dict):
        asked = _beyond(known, asked)
    if event.tool is not None and asked:
        yield from _tool_input(event, asked, sheet)
    yield from _value(_beyond(first.fields, _rest(event)), sheet)


def _rest(event: Event) -> dict[str, Value]:
    above = _SHOWN_ABOVE | event.told.keys()
    return {key: value for key, value in event.fields.items() if key not in above}


def _beyond(known: Mapping[str, Value], fields: Mapping[str, Value]) -> dict[str, Value]:
    return {key: item for key, item in fields.items() if known.get(key, _ABSENT) != item}


def _tool_input(event: Event, value: Value, sheet: Sheet) -> Iterator[Line]:
    if not isinstance(value, dict):
        yield from _title("input")
        yield from _value(value, sheet)
        return
    if is_plan(event) and not value.get("plan") and not names_plan(event):
        yield [("dim", "this event carries no plan; the PermissionRequest of the same call does")]
    shown = yield from _shaped(value, sheet)
    rest = {key: item for key, item in value.items() if key not in shown}
    if rest:
        yield from _title("with" if shown else "input")
        yield from _value(rest, sheet)


def _shaped(value: dict[str, Value], sheet: Sheet) -> Generator[Line, None, set[str]]:
    """Show the fields that say what the call does; return which these are, none for an odd input.

    They are found by their own names and not by the tool's: agents name their
    tools differently and their fields much alike.
    """
    shown: set[str] = set()
    match value:
        case {"file_path": str(path), "old_string": str(old), "new_string": str(new)}:
            yield from _path("edits", path, sheet)
            yield from framed(edit_rows(old, new, sheet.inner, sheet.spell))
            shown = {"file_path", "old_string", "new_string"}
        case {"file_path": str(path), "edits": list(edits)} if all(map(_is_edit, edits)):
            yield from _path("edits", path, sheet)
            yield from _edits(edits, sheet)
            shown = {"file_path", "edits"}
        case {"file_path": str(path), "content": str(text)}:
            yield from _path("writes the whole of", path, sheet)
            yield from framed(added_rows(text, sheet.inner, sheet.spell))
            shown = {"file_path", "content"}
        case {"notebook_path": str(path), "new_source": str(text)}:
            yield from _path("edits a cell of", path, sheet)
            yield from framed(added_rows(text, sheet.inner, sheet.spell))
            shown = {"notebook_path", "new_source"}
        case {"command": str(text)}:
            rows = patch_rows if text.startswith(_PATCH) else shell_rows
            yield from framed(rows(text, sheet.inner, sheet.spell))
            shown = {"command"}
            if isinstance(said := value.get("description"), str):
                yield from _title("the agent says")
                yield from _prose(said, sheet)
                shown.add("description")
        case {"plan": str(plan)}:
            yield from _markdown(plan, sheet)
            shown = {"plan"}
    return shown


def _path(what: str, path: str, sheet: Sheet) -> Iterator[Line]:
    yield from _title(what)
    yield from framed(plain_rows(path, sheet.inner, sheet.spell, style="name"))


def _is_edit(value: Value) -> bool:
    match value:
        case {"old_string": str(), "new_string": str()}:
            return True
    return False


def _edits(edits: list[Value], sheet: Sheet) -> Iterator[Line]:
    for place, edit in enumerate(edits, 1):
        yield from _title(f"edit {place} of {len(edits)}")
        if isinstance(edit, dict):
            rest = dict(edit)
            old, new = rest.pop("old_string"), rest.pop("new_string")
            yield from framed(edit_rows(str(old), str(new), sheet.inner, sheet.spell))
            yield from _value(rest, sheet)
