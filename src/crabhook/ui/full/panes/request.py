"""The body of a card, block by block; and the page with everything that was sent.

No field of a tool's input is left out: a block names the fields it stands for, and the others
follow as they are. Of the event's own fields those are shown which the agent's table of events
names (`Event.tells`). A page of its own has the rest, such as ids and folders.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial

from crabhook.model.card import Origin, State
from crabhook.model.event import Event, How, ShownField
from crabhook.model.jsontext import Value
from crabhook.model.order import CAP
from crabhook.model.wording import plural
from crabhook.present.card import CardDocument, card_document
from crabhook.present.document import (
    AgentMessage,
    AsAllowed,
    AskedAgain,
    Block,
    Body,
    ChangedFields,
    CommandText,
    Counts,
    Description,
    Fact,
    FilePath,
    HiddenLetters,
    Json,
    KeptGoing,
    Name,
    NewText,
    OddInput,
    OfferedRules,
    OurWords,
    Plan,
    Quote,
    TextChange,
    TextChanges,
    UnifiedDiff,
)
from crabhook.present.sentence import asker
from crabhook.present.summary import as_allowed, brief
from crabhook.ui.full.panes.around import around_rows, offered_rows
from crabhook.ui.text import code
from crabhook.ui.text.diff import added_rows, edit_rows, patch_rows, unified_rows
from crabhook.ui.text.layout import (
    Content,
    Item,
    Layer,
    Line,
    Sheet,
    boxed,
    framed,
    line_cells,
    page,
)
from crabhook.ui.text.width import cells, clip

_BOXED = 40  # columns from which a command is in a frame
_SHORT = 16  # letters of a tool's name that no sentence is cut for
_A_NAME = 60  # letters of a model's name shown beside its label


def request_page(document: CardDocument, turn: int = 0) -> Content:
    """Return the request, block by block, and the rules that its agent suggests.

    `turn` identifies the answer held for the card.
    """
    card = document.card
    key = card.number, tuple(leg.id for leg in card.requests)
    version = (card.kept_going, as_allowed(card) is card.event, turn, card.state)
    layers: list[Layer] = [partial(_whole_name, document), *_layers(document)]
    if card.state is State.WAITING and document.offered.offered:
        layers.append(partial(_block, document.offered))
    items = [Item((key, version, place), layer) for place, layer in enumerate(layers)]
    return Content(key, len(items), items.__getitem__)


def beside(event: Event, sheet: Sheet) -> str:
    """Return what stands beside a card's sentence, in half of the columns at most."""
    return f" {clip(asker(event, sheet.spell), sheet.columns // 2)}"


def _whole_name(document: CardDocument, sheet: Sheet) -> Iterator[Line]:
    """Return a tool's name in full where the card's sentence is cut: else tools look alike."""
    event = document.card.event
    room = sheet.columns - cells(beside(event, sheet))
    if event.tool is None or len(event.tool.name) <= _SHORT:
        return
    if cells(document.asks(sheet.spell).asked) > room:
        yield [("label", "the tool, in full")]
        yield from code.quoted(event.tool.name, sheet)


def asked_rows(document: CardDocument, sheet: Sheet, *, whole: bool = False) -> Iterator[Line]:
    """Return the request of all the card's hooks, as allowed if changed; `whole`: full paths."""
    for layer in _layers(document, whole=whole):
        yield from layer(sheet)


def _layers(document: CardDocument, *, whole: bool = False) -> Iterator[Layer]:
    """Yield how each block of a request is laid out, but for what its agent offers."""
    cwd = "" if whole else document.card.event.cwd
    yield from (partial(_block, block) for block in document.notes)
    yield from _input(document.body, cwd)
    if document.changed is not None:
        yield partial(_block, document.changed)
    facts = {fact.key: fact for fact in document.happening.of(Fact)}
    for fact in filter(None, map(facts.get, document.card.event.tells)):  # in the agent's own order
        if fact.shown is not None:
            yield partial(_block, fact)
    yield from (partial(_block, block) for block in document.again)


def _input(body: Body, cwd: str) -> Iterator[Layer]:
    """Yield how each block of a tool's input is laid out; `cwd`: where files are named from."""
    yield partial(_lead, body.lead, cwd)
    drawn = (*body.lead, *body.of(OddInput))
    yield from (partial(_block, block) for block in body.of(OddInput))
    # a key shows all of it, also what has its usual value
    rest = body.rest(drawn, usual=not (cwd and body.lead))
    if rest:
        label = "with" if body.lead else "input"
        yield partial(_labelled, label, rest)


def _labelled(label: str, value: Value, sheet: Sheet) -> Iterator[Line]:
    yield [("label", label)]
    yield from _value(value, sheet)


def _changed(block: ChangedFields, sheet: Sheet) -> Iterator[Line]:
    """Return, field by field, how a call was changed before it was allowed."""
    for key, before, after in block.changes:
        yield [("label", f"what was changed: {brief(key, sheet.spell)}")]
        yield from framed(unified_rows(before, after, sheet.inner))


def everything_page(document: CardDocument) -> Content:
    """Return all that a card's hooks sent, as sent, and what else is known of the card."""
    key = document.card.number, tuple(leg.id for leg in document.card.requests), "everything"
    return page(key, lambda sheet: everything_rows(document, sheet), document.context)


def everything_rows(document: CardDocument, sheet: Sheet) -> Iterator[Line]:
    """Return every field of every event of a card, what was asked first."""
    undecided = replace(document.card, decided=None)
    yield from asked_rows(card_document(undecided), sheet, whole=True)
    yield from around_rows(document, sheet)
    for event in document.sent:
        of = f" of {brief(event.tool, sheet.spell)}" if event.tool else ""
        yield [("label", f"the event itself: {brief(event.event, sheet.spell)}{of}")]
        yield from _value(dict(event.rest), sheet)
        yield from _sender(event.origin, sheet)


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


def _as_allowed(block: AsAllowed, _: Sheet) -> Iterator[Line]:
    done = "answered" if block.answered else "edited"
    will = "to be allowed" if block.waits else "allowed"
    yield [("heading", done), ("dim", f": {will} as it is here · i what was asked")]


def _hidden(block: HiddenLetters, sheet: Sheet) -> Iterator[Line]:
    """Say how many letters are invisible, so that a reader of a long text notices.

    Say also where a terminal may show words in another order than they were sent in.
    """
    if block.leftward and not sheet.spell("\u05d0").isascii():
        warning = "! letters run right to left: your terminal may show words in another order"
        yield [("warning", f"{warning}, --ascii does not")]
    if block.count:
        hidden_letters = plural(block.count, "hidden character")
        yield [("warning", f"! {hidden_letters}, shown like {sheet.spell(chr(0x200B))}")]


def _going(block: KeptGoing, _: Sheet) -> Iterator[Line]:
    """Return how often an agent that wants to stop was sent on."""
    if not block.times:
        yield [("", "its first stop in a row"), ("dim", f" · you can keep it going {CAP} times")]
    elif block.times < CAP:
        yield [("heading", f"kept going {block.times} of {CAP} times in a row")]
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


def _again(block: AskedAgain, sheet: Sheet) -> Iterator[Line]:
    """Return what another hook of the same call adds to the first."""
    yield [("label", f"asked again as {sheet.spell(block.event)}")]
    for layer in _input(block.body, cwd=""):
        yield from layer(sheet)


def _lead(blocks: tuple[Block, ...], cwd: str, sheet: Sheet) -> Iterator[Line]:
    """Show what says what the call does; a file below `cwd` is named relative to it."""
    match blocks:
        case (
            FilePath(path=path),
            TextChange() | TextChanges() | NewText() | UnifiedDiff() as text,
        ):
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
    """Lay out a block; part by part where this screen has no drawing for it."""
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
    OurWords: lambda block, _: iter([[("dim", block.text)]]),
    Quote: lambda block, sheet: code.titled(block.label, block.text, sheet),
    AsAllowed: _as_allowed,
    HiddenLetters: _hidden,
    KeptGoing: _going,
    ChangedFields: _changed,
    AskedAgain: _again,
    OfferedRules: offered_rows,
    Fact: lambda block, sheet: _field(block.shown, block.value, sheet),
    OddInput: lambda block, sheet: _labelled("input", block.value, sheet),
    Json: lambda block, sheet: _value(dict(block.fields), sheet),
    CommandText: _command,
    TextChange: _change,
    TextChanges: _edits,
    UnifiedDiff: lambda block, sheet: framed(patch_rows(block.text.strip("\n"), sheet.inner)),
    NewText: lambda block, sheet: framed(added_rows(block.text, sheet.inner)),
    Plan: lambda block, sheet: _markdown(block.text, sheet),
    FilePath: lambda block, sheet: code.quoted(block.path, sheet, style="name"),
    Name: lambda block, sheet: code.quoted(block.text, sheet, style="name"),
    Description: lambda block, sheet: code.quoted(block.text, sheet, style="name"),
    AgentMessage: lambda block, sheet: code.quoted(block.text, sheet, style="name", words=True),
}
