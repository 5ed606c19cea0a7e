"""A form of an MCP server while the operator fills it in; nothing is drawn here.

The operator stands at a stop: one for each value that can be chosen, or one
for a field that is typed.  What is not given is not sent, so an empty field is
left out rather than sent as an empty text.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from crabhook.broker.cards import Card
from crabhook.desk.interface import Desk
from crabhook.model.elicitation import Field, check_content, read_fields
from crabhook.model.errors import DecisionError, PayloadError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, parse_object

_WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,300}(\.[0-9]{0,300})?|\.[0-9]{1,300})([eE][+-]?[0-9]{1,3})?")


def read_text(kind: str, text: str) -> Value:
    """Return the value that `text` stands for in a field of that JSON type.

    Raises DecisionError, in words for the operator, where it stands for none.
    """
    return _READERS.get(kind, _json)(text)


def text_of(value: Value) -> str:
    """Return a value as it would be typed."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _whole(text: str) -> Value:
    if not _WHOLE.fullmatch(text.strip()):
        raise DecisionError("a whole number is asked for")
    return int(text)


def _number(text: str) -> Value:
    if not _NUMBER.fullmatch(text.strip()):
        raise DecisionError("a number is asked for")
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise DecisionError("a number of that size cannot be sent")
    return int(text) if _WHOLE.fullmatch(text.strip()) else number


def _json(text: str) -> Value:
    try:
        json.loads(text)  # one value: the text cannot close what it is about to stand in
        return parse_object(f'{{"": {text}\n}}'.encode())[""]
    except (PayloadError, ValueError, RecursionError) as error:
        raise DecisionError(f"a value in JSON is asked for: {error}") from None


_READERS: Mapping[str, Callable[[str], Value]] = {
    "string": str,
    "integer": _whole,
    "number": _number,
}


MOST_CHECKED = 100_000  # letters of a form's schema that is checked while it is filled in
_YES_OR_NO = ((True, "yes"), (False, "no"))


@dataclass(slots=True)
class Entry:
    """One field of the form, and what is given for it so far.

    `asked` is what the form says of it.  `given`: whether there is a `value`.
    `typed` is the text the operator typed, kept where it is no value of the
    field; `wrong` says why not.
    `choices`: the values to choose from; `several`: more than one may be.
    """

    asked: Field
    schema: Mapping[str, Value] = field(default_factory=dict)
    given: bool = False
    value: Value = None
    typed: str = ""
    wrong: str = ""
    choices: tuple[tuple[Value, str], ...] = ()

    @property
    def several(self) -> bool:
        """Whether any number of the choices may be given."""
        return self.asked.kind == "array"

    @property
    def stops(self) -> int:
        """How many rows of the field the operator may stand on."""
        return len(self.choices) or 1

    @property
    def text(self) -> str:
        """What stands in the field, as it would be typed."""
        return self.typed or (text_of(self.value) if self.given else "")

    def chosen(self, choice: int) -> bool:
        """Whether that choice is given."""
        one = compact(self.choices[choice][0])
        if self.several and isinstance(self.value, list):
            return any(compact(value) == one for value in self.value)
        return self.given and compact(self.value) == one


class FillIn:
    """A form: its fields, what is given, and where the operator stands (`entry`, `choice`)."""

    def __init__(self, event_fields: Mapping[str, Value]) -> None:
        self._event_fields = event_fields
        schema = event_fields.get("requested_schema")
        listed = schema.get("properties") if isinstance(schema, dict) else None
        self._properties = listed if isinstance(listed, dict) else {}
        self.entries = [self._entry(one) for one in read_fields(event_fields)]
        self._ends = list(accumulate(entry.stops for entry in self.entries))
        self._checked = len(compact(self._properties)) <= MOST_CHECKED
        self.stop = 0

    def __repr__(self) -> str:
        return f"<FillIn {len(self.content())} of {len(self.entries)} given>"

    def _entry(self, one: Field) -> Entry:
        about = self._properties.get(one.name)
        choices = one.choices or (_YES_OR_NO if one.kind == "boolean" else ())
        entry = Entry(one, about if isinstance(about, dict) else {}, choices=choices)
        if one.default is not None:
            entry.given, entry.value = True, one.default
        return entry

    @property
    def stops(self) -> int:
        """How many rows there are to stand on."""
        return self._ends[-1] if self._ends else 0

    def at(self, stop: int) -> tuple[int, int]:
        """Return which field a stop belongs to, and which of its choices it is."""
        place = bisect_right(self._ends, stop)
        return place, stop - (self._ends[place - 1] if place else 0)

    @property
    def entry(self) -> Entry:
        """The field the operator stands at."""
        return self.entries[self.at(self.stop)[0]]

    def move(self, step: int) -> None:
        """Stand on another row; the first and the last are ends."""
        self.stop = min(max(self.stop + step, 0), max(self.stops - 1, 0))

    def go(self, step: int) -> None:
        """Stand at the field before (-1) or after (+1); the first and the last are ends."""
        self.stand_at(max(min(self.at(self.stop)[0] + step, len(self.entries) - 1), 0))

    def stand_at(self, place: int) -> None:
        """Stand at the first row of the field at `place`."""
        self.stop = self._ends[place - 1] if place else 0

    @property
    def last(self) -> bool:
        """Whether the operator stands at the last field."""
        return self.at(self.stop)[0] == len(self.entries) - 1

    def choose(self, choice: int | None = None) -> bool:
        """Give that choice of the field, or the marked choice; a second time takes it back.

        Return whether there was such a choice.
        """
        place, here = self.at(self.stop)
        entry, choice = self.entries[place], here if choice is None else choice
        if not 0 <= choice < len(entry.choices):
            return False
        self.stop += choice - here
        value, was = entry.choices[choice][0], entry.chosen(choice)
        if entry.several:
            given = entry.value if isinstance(entry.value, list) else []
            kept = [one for one in given if compact(one) != compact(value)]
            self._give(entry, kept if was else [*given, value])
        elif was:
            self.clear()
        else:
            self._give(entry, value)
        return True

    def write(self, text: str) -> None:
        """Give what was typed for the field; what is no value of it is kept and marked wrong."""
        entry = self.entry
        if not text:
            self.clear()
            return
        try:
            self._give(entry, read_text(entry.asked.kind, text))
        except DecisionError as error:
            entry.given, entry.value, entry.typed, entry.wrong = False, None, text, str(error)

    def clear(self) -> None:
        """Give nothing for the field."""
        entry = self.entry
        entry.given, entry.value, entry.typed, entry.wrong = False, None, "", ""

    def _give(self, entry: Entry, value: Value) -> None:
        entry.given, entry.value, entry.typed = True, value, ""
        entry.wrong = self._problem(entry)

    def _problem(self, entry: Entry) -> str:
        """Return what the schema has against the value, by the field's own rules alone."""
        if not self._checked:
            return ""
        whole = self._event_fields.get("requested_schema")
        known = whole if isinstance(whole, dict) else {}
        alone: dict[str, Value] = {
            **{key: known[key] for key in ("$schema", "$defs", "definitions") if key in known},
            "properties": {entry.asked.name: dict(entry.schema)},
            "type": "object",
        }
        try:
            check_content({"requested_schema": alone}, {entry.asked.name: entry.value})
        except DecisionError as error:
            return str(error).removeprefix(f"{entry.asked.name}: ")
        return ""

    def content(self) -> dict[str, Value]:
        """Return the values to send, by property."""
        return {entry.asked.name: entry.value for entry in self.entries if entry.given}

    def check(self) -> None:
        """Raise DecisionError if the values do not fit the form's schema as a whole."""
        if self._checked:
            check_content(self._event_fields, self.content())

    def problems(self) -> Iterator[tuple[Entry, str]]:
        """Return what keeps the form from being sent: what is wrong, and what is missing."""
        for entry in self.entries:
            if entry.wrong:
                yield entry, entry.wrong
            elif entry.asked.required and not entry.given:
                yield entry, "it is required"

    def blame(self, error: str) -> None:
        """Mark the field that a refusal of the whole form names, and stand at it."""
        for place, entry in enumerate(self.entries):
            name = entry.asked.name
            if error.startswith((f"{name}: ", f"{name}/")) or f"'{name}' is a required" in error:
                entry.wrong = error.removeprefix(f"{name}: ")
                self.stand_at(place)
                return

    def stand_at_problem(self) -> None:
        """Stand at the first field that keeps the form from being sent."""
        for wrong, _ in self.problems():
            self.stand_at(next(n for n, entry in enumerate(self.entries) if entry is wrong))
            return


# The forms of the cards that were looked at.


ASKED: Final = "Elicitation"
ANSWERED: Final = "ElicitationResult"


def is_form(event: Event) -> bool:
    """Whether the event is about a form of an MCP server, or about the answer to one."""
    return event.name in (ASKED, ANSWERED)


def is_link(event: Event) -> bool:
    """Whether the event asks to open an address instead of filling in a form."""
    return is_form(event) and (event.text("mode") == "url" or bool(event.text("url")))


class Fillings(dict[int, FillIn]):
    """Forms by the number of their card."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def of(self, card: Card | None) -> FillIn | None:
        """Return a card's form, if it asks for one or tells of the answer to one."""
        if card is None or not is_form(card.event) or is_link(card.event):
            return None
        if card.number not in self:
            fields = card.event.fields
            if card.event.name == ANSWERED:
                earlier = (ended.event for ended in reversed(self._desk.ended()))
                fields = answered_form(card.event, earlier)
            self[card.number] = FillIn(fields)
        return self[card.number]


def answered_form(event: Event, earlier: Iterable[Event]) -> Mapping[str, Value]:
    """Return the form that an answer was given to, with what was given in its fields.

    The answer does not carry the form: it is that of the last question of the
    same server in `earlier`, the newest first, or else what the values
    themselves tell of it.
    """
    content = event.fields.get("content")
    given = content if isinstance(content, dict) else {}
    asked = next((one for one in earlier if _same_form(one, event)), None)
    schema = asked.fields.get("requested_schema") if asked else None
    whole = schema if isinstance(schema, dict) else {"type": "object"}
    listed = whole.get("properties")
    known = listed if isinstance(listed, dict) else {}
    properties: dict[str, Value] = {
        name: about if isinstance(about, dict) else {} for name, about in known.items()
    }
    for name, value in given.items():
        about = properties.get(name, {"type": _kind(value)})
        properties[name] = {**(about if isinstance(about, dict) else {}), "default": value}
    return {**event.fields, "requested_schema": {**whole, "properties": properties}}


def _same_form(asked: Event, answered: Event) -> bool:
    def known_by(event: Event) -> tuple[str, ...]:
        return event.session, event.text("mcp_server_name"), event.text("elicitation_id")

    return asked.name == ASKED and known_by(asked) == known_by(answered)


def _kind(value: Value) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return names.get(type(value), "json")
