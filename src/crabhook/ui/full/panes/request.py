"""The body of a card, block by block; and the page with everything that was sent.

No field of a tool's input is left out: a block names the fields it stands for, and the others
follow as they are. Of the event's own fields those are shown which the agent's table of events
names (`Event.tells`). A page of its own has the rest, such as ids and folders.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace

from crabhook.model.card import Card, Origin, State
from crabhook.model.decision import Verdict
from crabhook.model.event import Event, How, ShownField
from crabhook.model.jsontext import Value, pretty
from crabhook.model.order import CAP
from crabhook.model.wording import plural
from crabhook.present.body import body, happening
from crabhook.present.card import NO_CONTEXT
from crabhook.present.document import (
    AgentMessage,
    Block,
    CardContext,
    CommandText,
    Counts,
    Description,
    Fact,
    FilePath,
    Json,
    Name,
    NewText,
    Plan,
    TextChange,
    TextChanges,
)
from crabhook.present.safe import hidden, runs_leftward
from crabhook.present.sentence import asker, sentence
from crabhook.present.summary import as_allowed, brief, is_plan, is_question, names_plan
from crabhook.ui.cards.context import around_rows, suggestion_rows
from crabhook.ui.text import code
from crabhook.ui.text.diff import added_rows, edit_rows, patch_rows, unified_rows
from crabhook.ui.text.layout import Content, Line, Sheet, boxed, framed, line_cells, page
from crabhook.ui.text.width import cells, clip

_BOXED = 40  # columns from which a command is in a frame
_SHORT = 16  # letters of a tool's name that no sentence is cut for
_A_NAME = 60  # letters of a model's name shown beside its label
LOOKED_AT = 100_000  # letters of a text in which hidden ones are counted
_ABSENT = object()
_SHOWN_ABOVE = frozenset({"tool_input", "hook_event_name"})
_FALSE_AS_EVER = frozenset({"replace_all", "run_in_background"})


def request_page(card: Card, turn: int = 0) -> Content:
    """Return the request, and the rules that its agent suggests.

    `turn` identifies the answer held for the card.
    """
    key = card.number, tuple(leg.id for leg in card.requests)

    def rows(sheet: Sheet) -> Iterator[Line]:
        yield from _whole_name(card, sheet)
        yield from asked_rows(card, sheet)
        if card.state is State.WAITING:
            yield from suggestion_rows(card, sheet)

    version = (card.kept_going, as_allowed(card) is card.event, turn, card.state)
    return page(key, rows, version)


def beside(event: Event, sheet: Sheet) -> str:
    """Return what stands beside a card's sentence, in half of the columns at most."""
    return f" {clip(asker(event, sheet.spell), sheet.columns // 2)}"


def _whole_name(card: Card, sheet: Sheet) -> Iterator[Line]:
    """Return a tool's name in full where the card's sentence is cut: else tools look alike."""
    event, room = card.event, sheet.columns - cells(beside(card.event, sheet))
    if event.tool is None or len(event.tool.name) <= _SHORT:
        return
    if cells(sentence(card, sheet.spell).asked) > room:
        yield [("label", "the tool, in full")]
        yield from code.quoted(event.tool.name, sheet)


def asked_rows(card: Card, sheet: Sheet, *, whole: bool = False) -> Iterator[Line]:
    """Return the request of all the card's hooks, as allowed if changed; `whole`: full paths."""
    asked, *others = [request.event for request in card.requests]
    first, cwd = as_allowed(card), "" if whole else asked.cwd
    if first is not asked:
        done = "answered" if is_question(asked) else "edited"
        will = "to be allowed" if card.state is State.WAITING else "allowed"
        yield [("heading", done), ("dim", f": {will} as it is here · i what was asked")]
        others = []
    yield from _warning(first, sheet)
    yield from _going(card)
    if first.tool is not None:
        yield from _tool_input(first, first.tool.input, sheet, cwd)
    if first is not asked and not is_question(asked):
        yield from _changes(asked.given, first.given, sheet)
    facts = {fact.key: fact for fact in happening(first).of(Fact)}
    for fact in filter(None, map(facts.get, first.tells)):  # in the agent's own order
        if fact.shown is not None:
            yield from _field(fact.shown, fact.value, sheet)
    for event in others:
        yield from _other_leg(first, event, sheet)


def _changes(
    asked: Mapping[str, Value], allowed: Mapping[str, Value], sheet: Sheet
) -> Iterator[Line]:
    """Return, field by field, how a call was changed before it was allowed."""
    for key in dict.fromkeys((*asked, *allowed)):
        before, after = (
            value if isinstance(value, str) else pretty(value)
            for value in (asked.get(key, ""), allowed.get(key, ""))
        )
        if before != after:
            yield [("label", f"what was changed: {brief(key, sheet.spell)}")]
            yield from framed(unified_rows(before, after, sheet.inner))


def everything_page(card: Card, around: CardContext = NO_CONTEXT) -> Content:
    """Return all that a card's hooks sent, as sent, and what else is known of the card."""
    key = card.number, tuple(leg.id for leg in card.requests), "everything"
    return page(key, lambda sheet: everything_rows(card, sheet, around), around)


def everything_rows(card: Card, sheet: Sheet, around: CardContext = NO_CONTEXT) -> Iterator[Line]:
    """Return every field of every event of a card, what was asked first."""
    yield from asked_rows(replace(card, decided=None), sheet, whole=True)
    yield from around_rows(card, around, sheet)
    for leg in card.requests:
        event = leg.event
        of = f" of {brief(event.tool.name, sheet.spell)}" if event.tool else ""
        yield [("label", f"the event itself: {brief(event.name, sheet.spell)}{of}")]
        above = _SHOWN_ABOVE | event.tells.keys()
        rest = {name: value for name, value in event.fields.items() if name not in above}
        yield from _value(rest, sheet)
        yield from _sender(leg.origin, sheet)


def _sender(origin: Origin, sheet: Sheet) -> Iterator[Line]:
    """Say which machine sent it; what the hook says itself of its host, where that differs."""
    facts = {name: value for name, value in asdict(origin).items() if value}
    if where := facts.pop("machine", ""):
        yield [("label", "sent by the machine, as its own token shows")]
        yield from _value({"machine": where}, sheet)
        if facts.get("host") == where:
            del facts["host"]
    if facts:
        yield [("label", "sent by, as it says itself")]
        yield from _value(facts, sheet)


def _value(value: Value, sheet: Sheet) -> Iterator[Line]:
    if isinstance(value, dict):
        yield from framed(code.field_rows(value, sheet.inner))
    else:
        yield from framed(code.value_rows(value, sheet.inner))


def _markdown(text: str, sheet: Sheet) -> Iterator[Line]:
    for mark in code.marks_of(sheet.fold(text)):
        yield from framed(code.mark_rows(mark, sheet.inner))


def _warning(event: Event, sheet: Sheet) -> Iterator[Line]:
    """Say how many letters are invisible, so that a reader of a long text notices.

    Say also where a terminal may show words in another order than they were sent in.
    """
    tool_input = event.tool.input if event.tool else None
    texts = tool_input.values() if isinstance(tool_input, dict) else [tool_input]
    looked = [text[:LOOKED_AT] for text in texts if isinstance(text, str)]
    count = sum(map(hidden, looked))
    if any(map(runs_leftward, looked)) and not sheet.spell("\u05d0").isascii():
        warning = "! letters run right to left: your terminal may show words in another order"
        yield [("warning", f"{warning}, --ascii does not")]
    if count:
        hidden_letters = plural(count, "hidden character")
        yield [("warning", f"! {hidden_letters}, shown like {sheet.spell(chr(0x200B))}")]


def _going(card: Card) -> Iterator[Line]:
    """Return how often an agent that wants to stop was sent on."""
    if Verdict.KEEP_GOING not in card.choices.verdicts:
        return
    if not card.kept_going:
        yield [("", "its first stop in a row"), ("dim", f" · you can keep it going {CAP} times")]
    elif card.kept_going < CAP:
        yield [("heading", f"kept going {card.kept_going} of {CAP} times in a row")]
    else:
        yield [("warning", f"! kept going {CAP} of {CAP} times in a row: now it stops anyway")]


def _field(shown_as: ShownField, value: Value, sheet: Sheet) -> Iterator[Line]:
    """Show a field of the event in its own way; with an unexpected type, as any field."""
    match shown_as.how, value:
        case How.PROSE | How.RESULT, str(text):
            yield from code.titled(shown_as.label, text, sheet)
        case How.MARKDOWN, str(text):
            yield [("label", shown_as.label)]
            yield from _markdown(text, sheet)
        case How.RESULT, _:
            yield [("label", shown_as.label)]
            yield from _value(value, sheet)
        case How.SEVERAL, list(items):
            yield from _several(shown_as.label, items, sheet)
        case How.MONEY, int(amount) | float(amount) if not isinstance(amount, bool):
            yield [("label", shown_as.label), ("", f" about ${amount:,.4f}")]
        case How.MODEL, str(name) if len(name) <= _A_NAME:
            yield [("label", f"{shown_as.label} "), ("heading", sheet.spell(name))]
        case How.FLAG, bool(flag):
            words = shown_as.yes if flag else shown_as.no
            yield from [[("", words)]] if words else []
        case _:
            yield from _value({shown_as.label: value}, sheet)


def _several(label: str, items: list[Value], sheet: Sheet) -> Iterator[Line]:
    """Show each item of a list, or say that there are none."""
    if not items:
        yield [("dim", f"{label}: none")]
        return
    yield [("label", f"{label}: {len(items)}")]
    for place, item in enumerate(items, 1):
        yield [("dim", f"{place} of {len(items)}")]
        yield from _value(item, sheet)


def _other_leg(first: Event, event: Event, sheet: Sheet) -> Iterator[Line]:
    """Return what another hook of the same call adds to the first, if anything."""
    asked = event.tool.input if event.tool else None
    if isinstance(asked, dict):
        first_fields = first.given
        asked = {
            key: value for key, value in asked.items() if first_fields.get(key, _ABSENT) != value
        }
    if event.tool is not None and asked:
        yield [("label", f"asked again as {sheet.spell(event.name)}")]
        yield from _tool_input(event, asked, sheet, cwd="")


def _tool_input(event: Event, value: Value, sheet: Sheet, cwd: str) -> Iterator[Line]:
    if not isinstance(value, dict):
        yield [("label", "input")]
        yield from _value(value, sheet)
        return
    if is_plan(event) and not value.get("plan") and not names_plan(event):
        yield [("dim", "this event carries no plan: the PermissionRequest of the same call does")]
    asked = body(replace(event, tool=replace(event.tool, input=value)) if event.tool else event)
    yield from _lead(asked.lead, sheet, cwd)
    rest = asked.rest(asked.lead)
    if cwd and asked.lead:  # a key shows all of it, also what has its usual value
        usual = {key for key in _FALSE_AS_EVER if rest.get(key) is False}
        usual |= {"planFilePath"} if is_plan(event) else set()
        rest = {key: item for key, item in rest.items() if key not in usual}
    if rest:
        yield [("label", "with" if asked.lead else "input")]
        yield from _value(rest, sheet)


def _lead(blocks: tuple[Block, ...], sheet: Sheet, cwd: str) -> Iterator[Line]:
    """Show what says what the call does; a file below `cwd` is named relative to it."""
    match blocks:
        case (FilePath(path=path), TextChange() | TextChanges() | NewText() as text):
            yield from _path(path, cwd, text.counts, sheet)
            yield from _block(text, sheet)
        case (CommandText() as command, Description(text=text)):
            # The agent's own words come first, so that the risk is right under the command.
            yield from code.quoted(f'"{text}"', sheet, style="dim", words=True)
            yield from _command(command, sheet)
        case _:
            for block in blocks:
                yield from _block(block, sheet)


def _block(block: Block, sheet: Sheet) -> Iterator[Line]:
    """Draw a block; part by part where this screen has no drawing for it."""
    if (drawing := _DRAWINGS.get(type(block))) is not None:
        yield from drawing(block, sheet)
    else:
        for part in block.parts:
            yield from _block(part, sheet)


def _command(block: CommandText, sheet: Sheet) -> Iterator[Line]:
    """Show a command in a frame: it has the most weight on the card."""
    if block.is_patch:
        yield from framed(patch_rows(block.text, sheet.inner))
    elif sheet.columns < _BOXED or not sheet.roomy:
        yield from framed(code.shell_rows(block.text, sheet.inner))
    else:
        yield from boxed(code.shell_rows(block.text, sheet.less(4)), sheet)


def _path(path: str, cwd: str, counts: Counts | None, sheet: Sheet) -> Iterator[Line]:
    """Show a file, and how many lines come and go, as far as that is known."""
    added, removed = counts or (None, None)
    added_and_removed: Line = [("", "  "), ("add", f"+{added}")] if added is not None else []
    added_and_removed += [("", " "), ("remove", f"-{removed}")] if removed is not None else []
    path = path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else path
    *rows, last = code.quoted(path, sheet, style="name")
    yield from rows
    fits = line_cells([*last, *added_and_removed]) <= sheet.inner.columns
    yield from (
        [[*last, *added_and_removed]] if fits else [last, [("bar", "│ "), *added_and_removed[1:]]]
    )


def _edits(block: TextChanges, sheet: Sheet) -> Iterator[Line]:
    for place, edit in enumerate(block.edits, 1):
        yield [("label", f"edit {place} of {len(block.edits)}")]
        if edit.change is not None:
            yield from _change(edit.change, sheet)
            yield from _value(dict(edit.rest), sheet) if edit.rest else ()


def _change(block: TextChange, sheet: Sheet) -> Iterator[Line]:
    yield from framed(edit_rows(block.before, block.after, sheet.inner))


# How a block that says what a call does is drawn; any other is drawn by its parts.
_DRAWINGS: Mapping[type[Block], Callable[..., Iterator[Line]]] = {
    Json: lambda block, sheet: _value(dict(block.fields), sheet),
    CommandText: _command,
    TextChange: _change,
    TextChanges: _edits,
    NewText: lambda block, sheet: framed(added_rows(block.text, sheet.inner)),
    Plan: lambda block, sheet: _markdown(block.text, sheet),
    FilePath: lambda block, sheet: code.quoted(block.path, sheet, style="name"),
    Name: lambda block, sheet: code.quoted(block.text, sheet, style="name"),
    Description: lambda block, sheet: code.quoted(block.text, sheet, style="name"),
    AgentMessage: lambda block, sheet: code.quoted(block.text, sheet, style="name", words=True),
}
