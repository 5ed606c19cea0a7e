"""The dialog for a form of an MCP server: what its keys do, and how it is drawn."""

from collections.abc import Iterator, Mapping

from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.present.body import server_asks
from crabhook.present.summary import brief
from crabhook.ui.full.dialogs import prompts
from crabhook.ui.full.dialogs.mcp_form_state import Entry, FillIn
from crabhook.ui.full.effects import Effect, Effects, Give, Go, Say, reveal
from crabhook.ui.full.filters import Mode
from crabhook.ui.text.code import field_rows, plain_rows, quoted, value_rows
from crabhook.ui.text.layout import Content, Item, Line, Sheet, framed, hung, page


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
        return Go(Mode.FILL), _shown(form)
    if number is not None:
        raise prompts.MissingRowError(number, len(form.entry.choices))
    return Go(Mode.FILL), prompts.ask_and_keep(prompts.Purpose.FIELD, form.write, form.entry.text)


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
        return Go(Mode.FILL), _shown(form), Say(wrong)

    def send() -> Effects:
        return (Give(Decision(Verdict.ACCEPT, content=form.content())),)

    page = prompts.Proposal(lambda: filled_page(card, form), send, card.number)
    return Go(Mode.FILL), page


def _shown(form: FillIn) -> Effect:
    return reveal(form.stop + 1, Mode.FILL)


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
        said = (entry.text, entry.wrong, entry.given) if choice == 0 else ()
        key = (number, stop, here, chosen, said)
        return Item(key, lambda sheet: _row(entry, choice, sheet, here=here, chosen=chosen))

    return Content((number, "form"), form.stops + 1, item)


def _asked(card: Card, form: FillIn, sheet: Sheet) -> Iterator[Line]:
    asks = server_asks(card.event)
    server = brief(asks.server if asks else "", sheet.spell) or "an MCP server"
    if asks and asks.action is not None:
        action = brief(asks.action, sheet.spell) or "no answer"
        yield [("label", f"this form of {server} was answered: "), ("heading", action)]
        yield [("dim", "pass lets that stand; another answer takes its place")]
    else:
        yield [("label", f"{server} asks:")]
    if asks and asks.message:
        yield from quoted(asks.message, sheet, words=True)
    if not form.stops:
        yield [("dim", "this form has no fields to fill in")]


def _row(entry: Entry, choice: int, sheet: Sheet, *, here: bool, chosen: bool) -> Iterator[Line]:
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


def _heading(entry: Entry, sheet: Sheet) -> Iterator[Line]:
    asked = entry.asked
    title = brief(asked.title, sheet.spell)
    name = f" ({brief(asked.name, sheet.spell)})" if asked.title != asked.name else ""
    facts = ["required" if asked.required else "may be left out", _kind(entry, sheet)]
    yield [("heading", title), ("dim", f"{name} · {' · '.join(filter(None, facts))}")]
    if asked.description:
        yield from quoted(asked.description, sheet, words=True)
    rest = {key: value for key, value in entry.schema.items() if key not in _TOLD_IN_WORDS}
    yield from framed(field_rows(rest, sheet.inner))


def _option(entry: Entry, choice: int, sheet: Sheet, *, here: bool, chosen: bool) -> Iterator[Line]:
    value, name = entry.choices[choice]
    style = "chosen" if chosen else ""
    head = prompts.option_head(choice + 1, here=here, chosen=chosen, several=entry.several)
    label = plain_rows(name, sheet.less(len(head)), style=style)
    yield from hung(head, label, style)
    if not isinstance(value, bool) and value != name:
        rows = value_rows(value, sheet.less(14))
        yield from hung("      sent as ", rows, "dim")


def _kind(entry: Entry, sheet: Sheet) -> str:
    one = entry.asked
    if entry.choices and one.kind != "boolean":
        return "choose any number" if entry.several else "choose one"
    said = _KINDS.get(one.kind, f"{brief(one.kind, sheet.spell)}, written as JSON")
    return f"{said}, {brief(one.format, sheet.spell)}" if one.format else said


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
