"""The dialog for a form of an MCP server: its fields, what its keys do, and how it is drawn.

The operator is at a stop: a choice, or a field to type. Empty fields are not sent.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from crabhook.desk.acts import Place, key_of
from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.elicitation import FormField, check_content, read_fields
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact, object_at
from crabhook.present.body import ASKED, server_asks
from crabhook.present.summary import brief
from crabhook.ui.form_values import choices_of, read_value
from crabhook.ui.full.dialog import DIGITS, Group, always, closes, group, row, row_of
from crabhook.ui.full.dialogs import prompts
from crabhook.ui.full.dialogs.help import ANYWHERE
from crabhook.ui.full.dialogs.page import (
    ARMED,
    COPY,
    FAR_AWAY,
    FREE,
    LOOKING,
    SCROLLING,
    SEEN,
    WHOLE,
    ScreenPage,
    gives,
)
from crabhook.ui.full.effects import Effects, Enter, Give, Say, ScreenEffect, reveal
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.text.code import field_rows, plain_rows, quoted, value_rows
from crabhook.ui.text.layout import Content, Item, Line, Sheet, framed, hung, page

MOST_CHECKED = 100_000  # letters of a form's schema that is checked while it is filled in


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
            choices=choices_of(asked),
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
                self._give(entry, read_value(entry.asked.kind, text))
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
        kind: Value = {"type": _KINDS_OF_JSON.get(type(value), "json")}
        described = object_at({name: kind} | fields, name)
        properties[name] = {**described, "default": value}
    return {**event.fields, "requested_schema": {**whole, "properties": properties}}


def _known_by(event: Event) -> tuple[str, ...]:
    return event.session, event.text("mcp_server_name"), event.text("elicitation_id")


_KINDS_OF_JSON = {bool: "boolean", int: "integer", float: "number", str: "string"}


# What its keys do.


def filling_of(screen: Screen) -> FillIn | None:
    """Return the selected card's form of an MCP server, if it is about one."""
    return None if screen.card is None else screen.work.begun(screen.card, read_filling)


def go_field(form: FillIn, step: int) -> Effects:
    """Go to the field before or after."""
    form.go(step)
    return (_shown(form),)


def choose(form: FillIn, number: int | None = None) -> Effects:
    """Choose the current choice, or choice `number`; in a field without choices, type.

    From outside the form, go into it. Raises MissingRowError.
    """
    if not form.stops:
        return ()
    if form.choose(None if number is None else number - 1):
        return Enter(), _shown(form)
    if number is not None:
        raise prompts.MissingRowError(number, len(form.entry.choices))
    return Enter(), prompts.ask_and_keep(prompts.Purpose.FIELD, form.write, form.entry.text)


def enter(card: Card, form: FillIn) -> Effects:
    """Choose or type, and go on to the next field; from the last field to the review."""
    if not form.stops:
        return accept(card, form)
    entry = form.entry

    def then(text: str) -> Effects:
        form.write(text)
        if entry.wrong:
            return Say(f"{entry.asked.title}: {entry.wrong}"), _shown(form)
        return _go_on(card, form)

    if not entry.choices:
        return (prompts.AskLine(prompts.Purpose.FIELD, then, entry.text, kept=True),)
    if not entry.chosen(form.choice):
        form.choose()
        if entry.several:
            return (_shown(form),)
    return _go_on(card, form)


def enters(form: FillIn) -> str:
    """Return what `enter` does in the current field, in words."""
    if not form.stops:
        return "review"
    entry, on = form.entry, "review" if form.last else "next field"
    if not entry.choices:
        return "type…"
    return prompts.chooses(on, chosen=entry.chosen(form.choice), several=entry.several)


def _go_on(card: Card, form: FillIn) -> Effects:
    return accept(card, form) if form.last else go_field(form, +1)


def clear(form: FillIn) -> Effects:
    """Clear the field."""
    if form.stops:
        form.clear()
    return ()


def accept(card: Card, form: FillIn | None) -> Effects:
    """Show what would be sent, to be confirmed; or the field that keeps it from being sent."""
    if form is None:
        return (Give(Decision(Verdict.ACCEPT)),)
    if wrong := form.stand_at_problem():
        return Enter(), _shown(form), Say(wrong)

    def send() -> Effects:
        return (Give(Decision(Verdict.ACCEPT, content=form.content())),)

    page = prompts.YesPage(lambda: filled_page(card, form), send, card.number)
    return Enter(), page


def _shown(form: FillIn) -> ScreenEffect:
    return reveal(form.stop + 1, FillPage)


def _with_form(
    do: Callable[[FillIn], Effects | None],
) -> Callable[[ScreenPage, str], Effects | None]:
    """Return the handler for the selected card's form."""
    return lambda page, _: None if (form := filling_of(page.screen)) is None else do(form)


def _enter(page: ScreenPage, _: str) -> Effects:
    card, form = page.card, filling_of(page.screen)
    return () if card is None or form is None else enter(card, form)


def accept_at(page: ScreenPage, _: str) -> Effects:
    """Show what would be sent of the selected card's form."""
    return () if page.card is None else accept(page.card, filling_of(page.screen))


def _choose_number(page: ScreenPage, key: str) -> Effects:
    form = filling_of(page.screen)
    return () if form is None else choose(form, int(key))


def _fills(page: ScreenPage) -> bool:
    return page.waits and filling_of(page.screen) is not None


def _act(act: str, do: Callable[[ScreenPage, str], Effects | None]) -> Group[ScreenPage]:
    """Return the key of an act that is done while a form is filled in."""
    return group(
        KeyTheme.FILLING,
        lambda page: _fills(page) and page.may(act),
        row_of(key_of(act, Place.CARD), do),
    )


class FillPage(ScreenPage):
    """The form while it is filled in."""

    CHOOSES = LETS_GO = True

    @property
    def enters(self) -> str:
        """What enter does in the current field, in words."""
        form = filling_of(self.screen)
        return "" if form is None else enters(form)

    def move(self, step: int) -> Effects:
        """Go down a row of the form, or up."""
        if (form := filling_of(self.screen)) is None:
            return super().move(step)
        form.move(step)
        return (reveal(form.stop + 1),)

    def far(self, step: int) -> Effects:
        """Go to the first row, or to the last."""
        return self.move(step * FAR_AWAY)

    # fmt: off
    KEYS = (
        group(KeyTheme.FILLING, _fills,
            row("enter", "fill in",
                "choose or type, then the next field or the review", ARMED, _enter)),
        _act("accept", accept_at), _act("decline", gives("decline")),
        _act("cancel", gives("cancel")),
        group(KeyTheme.FILLING, _fills,
            row("space", "choose", "choose the marked row, or take the choice back",
                ARMED, _with_form(choose)),
            row(DIGITS, "", "choose that one of the field's choices", ARMED, _choose_number),
            row("backspace delete", "clear", "give nothing for the field",
                ARMED, _with_form(clear))),
        _act("pass", gives("pass")), LOOKING,
        group(KeyTheme.FIELDS, always,
            row("s-tab left", "", "the field before",
                FREE, _with_form(lambda form: go_field(form, -1))),
            row("tab right", "next field", "the field after",
                FREE, _with_form(lambda form: go_field(form, +1))),
            row("escape", "queue", "back to the queue, and keep what is filled in", FREE, closes)),
        *SCROLLING, WHOLE, COPY, SEEN, *ANYWHERE,
    )
    # fmt: on


_INDENT = "    "
_KINDS: Mapping[str, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
}
_TOLD_IN_WORDS = frozenset(
    {"type", "title", "description", "enum", "enumNames", "oneOf", "anyOf", "items", "format"}
)


def fill_content(card: Card, form: FillIn, *, focused: bool) -> Content:
    """Return who asks for what, and the fields row by row; `focused` marks the current row."""
    number = card.number

    def item(place: int) -> Item:
        stop = place - 1
        if place == 0:
            return Item((number, "asked"), lambda sheet: _asked(card, form, sheet))
        entry, choice = form.at(stop)
        here = focused and stop == form.stop
        chosen = bool(entry.choices) and entry.chosen(choice)
        typed = (entry.text, entry.wrong, entry.given) if choice == 0 else ()
        key = (number, stop, here, chosen, typed)
        return Item(key, lambda sheet: _row(entry, choice, sheet, here=here, chosen=chosen))

    return Content((number, "form"), form.stops + 1, item)


def _asked(card: Card, form: FillIn, sheet: Sheet) -> Iterator[Line]:
    asks = server_asks(card.event)
    server = brief(asks.server if asks else "", sheet.spell) or "an MCP server"
    if asks and asks.action is not None:
        action = brief(asks.action, sheet.spell) or "no answer"
        yield [("label", f"this form of {server} was answered: "), ("heading", action)]
        yield [("dim", "pass keeps that answer. Any other answer replaces it")]
    else:
        yield [("label", f"{server} asks:")]
    if asks and asks.message:
        yield from quoted(asks.message, sheet, words=True)
    if not form.stops:
        yield [("dim", "this form has no fields to fill in")]


def _row(
    entry: FormEntry, choice: int, sheet: Sheet, *, here: bool, chosen: bool
) -> Iterator[Line]:
    """Return a typed field, or one choice of a field; the first row has the heading."""
    if choice == 0:
        yield from _heading(entry, sheet)
    if entry.choices:
        yield from _option(entry, choice, sheet, here=here, chosen=chosen)
    elif entry.text or entry.given:
        rows = plain_rows(entry.text, sheet.less(len(_INDENT)), style="chosen")
        yield from hung("▸   " if here else _INDENT, rows)
    else:
        yield [("", "▸" if here else " "), ("dim", "  (nothing given)")]
    if entry.wrong and choice + 1 == (len(entry.choices) or 1):
        rows = plain_rows(entry.wrong, sheet.less(4), style="warning", words=True)
        yield from hung("  ! ", rows, "warning", "  ! ")


def _heading(entry: FormEntry, sheet: Sheet) -> Iterator[Line]:
    asked = entry.asked
    title = brief(asked.title, sheet.spell)
    name = f" ({brief(asked.name, sheet.spell)})" if asked.title != asked.name else ""
    facts = ["required" if asked.required else "may be left out", _kind(entry, sheet)]
    yield [("heading", title), ("dim", f"{name} · {' · '.join(filter(None, facts))}")]
    if asked.description:
        yield from quoted(asked.description, sheet, words=True)
    rest = {key: value for key, value in entry.schema.items() if key not in _TOLD_IN_WORDS}
    yield from framed(field_rows(rest, sheet.inner))


def _option(
    entry: FormEntry, choice: int, sheet: Sheet, *, here: bool, chosen: bool
) -> Iterator[Line]:
    value, name = entry.choices[choice]
    style = "chosen" if chosen else ""
    head = prompts.option_head(choice + 1, here=here, chosen=chosen, several=entry.several)
    label = plain_rows(name, sheet.less(len(head)), style=style)
    yield from hung(head, label, style)
    if not isinstance(value, bool) and value != name:
        rows = value_rows(value, sheet.less(14))
        yield from hung("      sent as ", rows, "dim")


def _kind(entry: FormEntry, sheet: Sheet) -> str:
    asked = entry.asked
    if entry.choices and asked.kind != "boolean":
        return "choose one or more" if entry.several else "choose one"
    kind = _KINDS.get(asked.kind, f"{brief(asked.kind, sheet.spell)}, written as JSON")
    return f"{kind}, {brief(asked.format, sheet.spell)}" if asked.format else kind


def filled_page(card: Card, form: FillIn) -> Content:
    """Return exactly what would be sent of a form that nothing keeps from being sent."""
    content = form.content()

    def rows(sheet: Sheet) -> Iterator[Line]:
        if not content:
            yield [("heading", "accepted with no values at all:")]
            yield [("dim", f"{_INDENT}(nothing given)")]
            return
        yield [("heading", "these values will be sent:")]
        yield from framed(field_rows(content, sheet.inner))
        left = [brief(entry.asked.title, sheet.spell) for entry in form.entries if not entry.given]
        if left:
            yield [("dim", f"left out: {', '.join(left)}")]

    return page((card.number, "filled"), rows, repr(content))
