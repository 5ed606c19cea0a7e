"""A form of an MCP server while the operator fills it in; this module draws nothing.

The operator is at a stop: a choice, or a field to type. Empty fields are not sent.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isinf

from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.elicitation import FormField, check_content, read_fields
from crabhook.model.errors import DecisionError, PayloadError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, object_at, parse_object
from crabhook.present.body import ASKED, server_asks

_NUMBER = re.compile(
    r"(?P<whole>[+-]?[0-9]{1,300})"
    r"|[+-]?([0-9]{1,300}(\.[0-9]{0,300})?|\.[0-9]{1,300})([eE][+-]?[0-9]{1,3})?"
)
MOST_CHECKED = 100_000  # letters of a form's schema that is checked while it is filled in
_YES_OR_NO = ((True, "yes"), (False, "no"))


def _read(kind: str, text: str) -> Value:
    """Return `text` as a value of that JSON type, or raise DecisionError with words for people."""
    if kind == "string":
        return text
    if kind not in {"integer", "number"}:
        return _json(text)
    number = _NUMBER.fullmatch(text.strip())
    if number is None or (kind == "integer" and not number["whole"]):
        raise DecisionError(f"a {'whole ' if kind == 'integer' else ''}number is asked for")
    if kind == "number" and isinf(float(text)):
        raise DecisionError("a number of that size cannot be sent")
    return int(text) if number["whole"] else float(text)


def _json(text: str) -> Value:
    try:
        json.loads(text)  # one value: the text cannot close the array around it
        return parse_object(f'{{"": {text}\n}}'.encode())[""]
    except (PayloadError, ValueError, RecursionError) as error:
        raise DecisionError(f"a value in JSON is asked for: {error}") from None


@dataclass(slots=True)
class FormEntry:
    """One field of the form and its present value.

    `asked`: the form's words. `choices`: the values to choose from. `given`: there is a `value`.
    `typed`: the operator's text, kept even if it is no value; `wrong` says why not.
    """

    asked: FormField
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
    def text(self) -> str:
        """The field's value as the operator would type it."""
        if self.typed or not self.given:
            return self.typed
        value = self.value
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def chosen(self, choice: int) -> bool:
        """Whether that choice is given."""
        wanted = compact(self.choices[choice][0])
        if self.several and isinstance(self.value, list):
            return any(compact(value) == wanted for value in self.value)
        return self.given and compact(self.value) == wanted


class FillIn:
    """A form: its fields, their values, and the operator's place (`stop`)."""

    def __init__(self, event_fields: Mapping[str, Value]) -> None:
        self._event_fields = event_fields
        self._schema = object_at(event_fields, "requested_schema")
        self._properties = object_at(self._schema, "properties")
        self.entries = [self._entry(form_field) for form_field in read_fields(event_fields)]
        self._stops = [
            (place, choice)
            for place, entry in enumerate(self.entries)
            for choice in range(len(entry.choices) or 1)
        ]
        self._checked = len(compact(self._properties)) <= MOST_CHECKED
        self.stop = 0

    def __repr__(self) -> str:
        return f"<FillIn {len(self.content())} of {len(self.entries)} given>"

    def _entry(self, asked: FormField) -> FormEntry:
        return FormEntry(
            asked,
            object_at(self._properties, asked.name),
            given=asked.default is not None,
            value=asked.default,
            choices=asked.choices or (_YES_OR_NO if asked.kind == "boolean" else ()),
        )

    @property
    def stops(self) -> int:
        """How many stops the form has."""
        return len(self._stops)

    def at(self, stop: int) -> tuple[FormEntry, int]:
        """Return which field a stop belongs to, and which of its choices it is."""
        place, choice = self._stops[stop]
        return self.entries[place], choice

    @property
    def choice(self) -> int:
        """The field's choice at the operator's place."""
        return self._stops[self.stop][1]

    @property
    def entry(self) -> FormEntry:
        """The field at the operator's place."""
        return self.at(self.stop)[0]

    def move(self, step: int) -> None:
        """Stand on another row; the first and the last are ends."""
        self.stop = min(max(self.stop + step, 0), max(self.stops - 1, 0))

    def go(self, step: int) -> None:
        """Stand at the field before (-1) or after (+1); the first and the last are ends."""
        if self.entries:
            self.stand_at(max(min(self._stops[self.stop][0] + step, len(self.entries) - 1), 0))

    def stand_at(self, place: int) -> None:
        """Stand at the first row of the field at `place`."""
        self.stop = self._stops.index((place, 0))

    @property
    def last(self) -> bool:
        """Whether the operator is at the last field."""
        return self.entry is self.entries[-1]

    def choose(self, choice: int | None = None) -> bool:
        """Make that choice, or the marked choice; a second time takes it back.

        Return whether there is such a choice.
        """
        entry, here = self.entry, self.choice
        choice = here if choice is None else choice
        if not 0 <= choice < len(entry.choices):
            return False
        self.stop += choice - here
        value, was = entry.choices[choice][0], entry.chosen(choice)
        if entry.several:
            values = entry.value if isinstance(entry.value, list) else []
            kept = [chosen for chosen in values if compact(chosen) != compact(value)]
            self._give(entry, kept if was else [*values, value])
        elif was:
            self.clear()
        else:
            self._give(entry, value)
        return True

    def write(self, text: str) -> None:
        """Give the field a typed text; a text that is no value is kept and marked wrong."""
        entry = self.entry
        self.clear()
        if text:
            try:
                self._give(entry, _read(entry.asked.kind, text))
            except DecisionError as error:
                entry.typed, entry.wrong = text, str(error)

    def clear(self) -> None:
        """Give nothing for the field."""
        entry = self.entry
        entry.given, entry.value, entry.typed, entry.wrong = False, None, "", ""

    def _give(self, entry: FormEntry, value: Value) -> None:
        """Set a value, and mark what the field's own schema has against it."""
        entry.given, entry.value, entry.typed, entry.wrong = True, value, "", ""
        if not self._checked:
            return
        name, whole = entry.asked.name, self._schema
        alone: dict[str, Value] = {
            **{key: whole[key] for key in ("$schema", "$defs", "definitions") if key in whole},
            "properties": {name: dict(entry.schema)},
            "type": "object",
        }
        try:
            check_content({"requested_schema": alone}, {name: value})
        except DecisionError as error:
            entry.wrong = str(error).removeprefix(f"{name}: ")

    def content(self) -> dict[str, Value]:
        """Return the values to send, by property."""
        return {entry.asked.name: entry.value for entry in self.entries if entry.given}

    def check(self) -> None:
        """Raise DecisionError if the values do not fit the form's schema as a whole."""
        if self._checked:
            check_content(self._event_fields, self.content())

    def blame(self, error: str) -> None:
        """Mark the field that an error of the whole form names, and go there."""
        for place, entry in enumerate(self.entries):
            name = entry.asked.name
            if error.startswith((f"{name}: ", f"{name}/")) or f"'{name}' is a required" in error:
                entry.wrong = error.removeprefix(f"{name}: ")
                self.stand_at(place)
                return

    def stand_at_problem(self) -> str:
        """Go to the first problem and return it; an empty text means none."""
        for place, entry in enumerate(self.entries):
            missing = entry.asked.required and not entry.given
            if problem := entry.wrong or ("it is required" if missing else ""):
                self.stand_at(place)
                return f"{entry.asked.title}: {problem}"
        try:
            self.check()
        except DecisionError as error:
            self.blame(str(error))
            return str(error)
        return ""


def read_filling(card: Card, desk: Replica) -> FillIn | None:
    """Return a card's form, if it asks for one or tells of the answer to one."""
    asks = server_asks(card.event)
    if asks is None or asks.is_link:
        return None
    if asks.action is None:
        return FillIn(card.event.fields)
    earlier = (ended.event for ended in reversed(desk.ended()))
    return FillIn(answered_form(card.event, earlier))


def answered_form(event: Event, earlier: Iterable[Event]) -> Mapping[str, Value]:
    """Return an answered form of the history, with the values given.

    The answer lacks the form: the newest question of that server in `earlier` has it, or else the
    values themselves suggest it.
    """
    about = _known_by(event)
    asked = next(
        (before for before in earlier if before.name == ASKED and _known_by(before) == about), None
    )
    schema = asked.fields.get("requested_schema") if asked else None
    whole = schema if isinstance(schema, dict) else {"type": "object"}
    fields = object_at(whole, "properties")
    properties: dict[str, Value] = {name: object_at(fields, name) for name in fields}
    for name, value in object_at(event.fields, "content").items():
        kind: Value = {"type": _KINDS.get(type(value), "json")}
        described = object_at({name: kind} | fields, name)
        properties[name] = {**described, "default": value}
    return {**event.fields, "requested_schema": {**whole, "properties": properties}}


def _known_by(event: Event) -> tuple[str, ...]:
    return event.session, event.text("mcp_server_name"), event.text("elicitation_id")


_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string"}
