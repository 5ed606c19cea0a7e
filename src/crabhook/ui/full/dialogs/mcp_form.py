"""The dialog for a form of an MCP server: what its keys do, and how it is drawn.

It shows what is asked, what is given so far, and before it is accepted exactly
what would be sent.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from crabhook.broker.cards import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.ui.cards.summary import brief
from crabhook.ui.full.dialogs.mcp_form_state import ANSWERED, Entry, FillIn
from crabhook.ui.full.dialogs.prompts import AskLine, Proposal, Purpose, ask_and_keep
from crabhook.ui.full.effects import Effect, Effects, Give, Go, Reveal, Say
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.panes.request import request_rows
from crabhook.ui.text.code import field_rows, plain_rows, value_rows
from crabhook.ui.text.layout import Item, Line, Page, Sheet, framed

# What keys do.


def move(form: FillIn | None, step: int) -> Effects:
    """Go a row of the form down, or up."""
    if form is None:
        return ()
    form.move(step)
    return (_shown(form),)


def go_field(form: FillIn, step: int) -> Effects:
    """Go to the field before or after."""
    form.go(step)
    return (_shown(form),)


def choose(form: FillIn, number: int | None = None) -> Effects:
    """Choose what the operator stands on, or the choice with that number; type where there is none.

    From outside of the form it leads into it.
    """
    if not form.stops:
        return ()
    if form.choose(None if number is None else number - 1) or number is not None:
        return Go(Mode.FILL), _shown(form)
    return Go(Mode.FILL), ask_and_keep(Purpose.FIELD, form.write, form.entry.text)


def enter(card: Card, form: FillIn) -> Effects:
    """Choose or type, and go on to the next field; from the last one to the review."""
    if not form.stops:
        return accept(card, form)
    if not form.entry.choices:
        return (AskLine(Purpose.FIELD, lambda text: _write(form, text), text=form.entry.text),)
    _, choice = form.at(form.stop)
    if form.entry.several or not form.entry.chosen(choice):
        form.choose()
    return (_shown(form),) if form.entry.several else _go_on(form)


def _write(form: FillIn, text: str) -> Effects:
    form.write(text)
    if form.entry.wrong:
        return Say(f"{form.entry.asked.title}: {form.entry.wrong}"), _shown(form)
    return _go_on(form)


def _go_on(form: FillIn) -> Effects:
    """Go to the next field; behind the last there is only the review, which a key opens."""
    if form.last:
        return Say("that was the last field; a shows what would be sent"), _shown(form)
    return go_field(form, +1)


def clear(form: FillIn) -> Effects:
    """Take back what is given for the field."""
    if form.stops:
        form.clear()
    return ()


def accept(card: Card, form: FillIn | None) -> Effects:
    """Show what would be sent, to be confirmed; or the field that keeps it from being sent."""
    if form is None:
        return (Give(Decision(Verdict.ACCEPT)),)
    if (wrong := _wrong(form)) is not None:
        return Go(Mode.FILL), _shown(form), Say(wrong)
    proposal = Proposal(
        lambda: filled_page(card, form),
        lambda: (Give(Decision(Verdict.ACCEPT, content=form.content())),),
        number=card.number,
        back=Mode.FILL,
    )
    return Go(Mode.FILL), proposal


def _wrong(form: FillIn) -> str | None:
    """Stand at what keeps the form from being sent, and say what it is."""
    for entry, said in form.problems():
        form.stand_at_problem()
        return f"{entry.asked.title}: {said}"
    try:
        form.check()
    except DecisionError as error:
        form.blame(str(error))
        return str(error)
    return None


def _shown(form: FillIn) -> Effect:
    return Reveal(form.stop + 1, Mode.FILL)


# How it is drawn.


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


@dataclass(frozen=True, slots=True)
class FillContent:
    """The form: who asks and for what, its fields row by row, then the request in full.

    `focused`: whether keys go to the form, so that the row they act on is marked.
    """

    card: Card
    form: FillIn
    focused: bool

    @property
    def key(self) -> Hashable:
        """The form of which card."""
        return self.card.number, "form"

    @property
    def count(self) -> int:
        """What is asked, the rows of the fields, and the request."""
        return self.form.stops + 2

    def item(self, place: int) -> Item:
        """Return what is asked, a row of the form, or the request in full."""
        number, legs = self.card.number, tuple(leg.id for leg in self.card.requests)
        if place == 0:
            return Item((number, "asked"), self._asked)
        stop = place - 1
        if stop >= self.form.stops:
            return Item((number, legs, "in full"), self._request)
        which, choice = self.form.at(stop)
        entry = self.form.entries[which]
        here = self.focused and stop == self.form.stop
        chosen = bool(entry.choices) and entry.chosen(choice)
        said = (entry.text, entry.wrong, entry.given) if choice == 0 else ()
        row = _Row(entry, choice, here=here, chosen=chosen)
        return Item((number, stop, here, chosen, said), row.rows)

    def _asked(self, sheet: Sheet) -> Iterator[Line]:
        event = self.card.event
        server = brief(event.text("mcp_server_name"), sheet.spell) or "an MCP server"
        if event.name == ANSWERED:
            action = brief(event.text("action"), sheet.spell) or "no answer"
            yield [("label", f"this form of {server} was answered: "), ("heading", action)]
            yield [("dim", "pass lets that stand; another answer takes its place")]
        else:
            yield [("label", f"{server} asks:")]
        message = event.text("message")
        if message:
            yield from framed(plain_rows(message, sheet.inner, sheet.spell, words=True))
        if not self.form.stops:
            yield [("dim", "this form has no fields to fill in")]

    def _request(self, sheet: Sheet) -> Iterator[Line]:
        yield []
        yield [("label", "the request in full")]
        yield from request_rows(self.card, sheet)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a form: a typed field, or one of a field's choices; the first has the heading."""

    entry: Entry
    choice: int
    here: bool
    chosen: bool

    def rows(self, sheet: Sheet) -> Iterator[Line]:
        if self.choice == 0:
            yield from self._heading(sheet)
        if self.entry.choices:
            yield from self._option(sheet)
        else:
            yield from self._typed(sheet)
        if self.choice == self.entry.stops - 1:
            yield from self._wrong(sheet)

    def _heading(self, sheet: Sheet) -> Iterator[Line]:
        one = self.entry.asked
        title = brief(one.title, sheet.spell)
        name = f" ({brief(one.name, sheet.spell)})" if one.title != one.name else ""
        needed = "required" if one.required else "may be left out"
        facts = [needed, _kind(self.entry, sheet)]
        yield [("heading", title), ("dim", f"{name} · {' · '.join(filter(None, facts))}")]
        if one.description:
            yield from framed(plain_rows(one.description, sheet.inner, sheet.spell, words=True))
        rest = {key: value for key, value in self.entry.schema.items() if key not in _TOLD_IN_WORDS}
        yield from framed(field_rows(rest, sheet.inner, sheet.spell))

    def _option(self, sheet: Sheet) -> Iterator[Line]:
        several, chosen = self.entry.several, self.chosen
        box = ("[x]" if chosen else "[ ]") if several else ("(x)" if chosen else "( )")
        head = f"{'▸' if self.here else ' '}{box} {self.choice + 1} "
        value, name = self.entry.choices[self.choice]
        style = "chosen" if chosen else ""
        label = plain_rows(name, sheet.columns - len(head), sheet.spell, style=style)
        for place, (_, spans) in enumerate(label):
            yield [(style, head if place == 0 else " " * len(head)), *spans]
        if not isinstance(value, bool) and value != name:
            rows = value_rows(value, sheet.columns - 14, sheet.spell)
            for place, (_, spans) in enumerate(rows):
                yield [("dim", "      sent as " if place == 0 else " " * 14), *spans]

    def _typed(self, sheet: Sheet) -> Iterator[Line]:
        mark = "▸" if self.here else " "
        text = self.entry.text
        if not text and not self.entry.given:
            yield [("", mark), ("dim", "  (nothing given)")]
            return
        rows = plain_rows(text, sheet.columns - len(_INDENT), sheet.spell, style="chosen")
        for place, (_, spans) in enumerate(rows):
            yield [("", f"{mark}   " if place == 0 else _INDENT), *spans]

    def _wrong(self, sheet: Sheet) -> Iterator[Line]:
        if self.entry.wrong:
            for _, spans in plain_rows(
                self.entry.wrong, sheet.columns - 4, sheet.spell, style="warning", words=True
            ):
                yield [("warning", "  ! "), *spans]


def _kind(entry: Entry, sheet: Sheet) -> str:
    """Return in words what is asked for."""
    one = entry.asked
    if entry.choices and one.kind != "boolean":
        return "choose any number" if entry.several else "choose one"
    said = _KINDS.get(one.kind, f"{brief(one.kind, sheet.spell)}, written as JSON")
    return f"{said}, {brief(one.format, sheet.spell)}" if one.format else said


def filled_page(card: Card, form: FillIn) -> Page:
    """Return exactly what would be sent, and what keeps it from being sent."""

    def rows(sheet: Sheet) -> Iterator[Line]:
        problems = list(form.problems())
        for entry, said in problems:
            title = brief(entry.asked.title, sheet.spell)
            yield [("warning", f"! {title}: {brief(said, sheet.spell)}")]
        content = form.content()
        if not content:
            yield [("heading", "accepted with no values at all:" if not problems else "so far:")]
            yield [("dim", f"{_INDENT}(nothing given)")]
            return
        yield [("heading", "so far:" if problems else "these values will be sent:")]
        yield from framed(field_rows(content, sheet.inner, sheet.spell))
        left = [brief(entry.asked.title, sheet.spell) for entry in form.entries if not entry.given]
        if left:
            yield [("dim", f"left out: {', '.join(left)}")]

    return Page(
        (card.number, "filled"),
        lambda: repr((form.content(), [said for _, said in form.problems()])),
        rows,
    )
