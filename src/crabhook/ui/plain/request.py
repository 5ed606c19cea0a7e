"""A request as rows of the plain desk: the tool's input, then the other fields.

A name that an agent made up never looks like our labels: unknown fields come as JSON.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, starmap
from typing import TypeAlias

from crabhook.model.jsontext import Value, compact
from crabhook.present.card import CardDocument
from crabhook.present.compare import compared
from crabhook.present.document import (
    AgentMessage,
    Block,
    Body,
    CommandText,
    Description,
    Fact,
    FilePath,
    Json,
    McpForm,
    NewText,
    OddInput,
    OfferedRules,
    Plan,
    Questions,
    TextChange,
    TextChanges,
    UnifiedDiff,
)
from crabhook.present.summary import json_start
from crabhook.ui.text.rows import Row, indented

BESIDE = 200  # characters of a text shown beside its name
_CHOICES_SHOWN = 100
_COMPARED_LINES = 400  # past these, finding what two texts share costs more than it tells


BlockRows: TypeAlias = tuple[Block, Iterator[Row]]
"""A block with its rows."""


def given_rows(document: CardDocument, longest: int) -> Iterator[Row]:
    """Yield all that a card's tool is given, then what its event tells beside it."""
    tool = document.card.event.tool
    asked = () if tool is None else input_rows(document.body, longest)
    for _, rows in chain(asked, happening_rows(document.happening, longest)):
        yield from rows


def happening_rows(happening: Body, longest: int, *, others: bool = True) -> Iterator[BlockRows]:
    """Yield the event's own fields; a text past `longest` characters loses its middle.

    `others`: also the fields without a label, as JSON.
    """
    shown = [block for block in happening.blocks if not isinstance(block, Fact) or block.short]
    yield from ((block, _rows(block, longest)) for block in shown)
    if others and (rest := happening.rest(shown)):
        yield Json(rest), json_rows("other fields", rest, longest)


def input_rows(body: Body, longest: int, but: Sequence[Block] = ()) -> Iterator[BlockRows]:
    """Yield a tool's whole input; a row says where a text past `longest` lost its middle.

    `but`: blocks that the card has told elsewhere.
    """
    shown = [block for block in body.blocks if block not in but]
    yield from ((block, _rows(block, longest)) for block in shown)
    rest = body.rest((*shown, *but))
    if rest or not (body.fields or body.blocks):
        other = any(block.fields for block in shown)
        yield Json(rest), json_rows("other input" if other else "input", rest, longest)


def offered_rows(block: OfferedRules) -> Iterator[Row]:
    """Yield what the agent suggests to allow from now on."""
    for number, offered in enumerate(block.offered, 1):
        place = f" → {offered.where}" if offered.where else ""
        yield Row(f"  always {number}: ", offered.what, place)


def json_rows(name: str, value: Value, longest: int) -> Iterator[Row]:
    """Show a value as JSON, written no further than it will be shown."""
    yield Row(f"  {name}:")
    written = json_start(value, longest, indent=2)
    yield from indented("    ", written[:longest], longest)
    if len(written) > longest:
        yield Row("  … the rest of it is left out …", shortened=True)


def _labelled(label: str, value: Value, longest: int) -> Iterator[Row]:
    if isinstance(value, str):
        beside = len(value) <= BESIDE and "\n" not in value
        shown = [Row(f"  {label}: ", value)] if beside else _below(label, "    ", value, longest)
        yield from shown
    elif len(start := json_start(value, BESIDE // 2)) <= BESIDE // 2:
        yield Row(f"  {label}: ", start)
    else:
        yield from json_rows(label, value, longest)


def _below(name: str, indent: str, text: str, longest: int) -> Iterator[Row]:
    yield Row(f"  {name}:")
    yield from indented(indent, text, longest)


def _form(block: McpForm, longest: int) -> Iterator[Row]:
    for field in block.entries:
        kind = f"{field.kind}, {field.format}" if field.format else field.kind
        parts = [field.name, kind, "required" if field.required else "may be left out"]
        if field.choices:
            parts.append("one of " + ", ".join(starmap(_choice, field.choices[:_CHOICES_SHOWN])))
        if len(field.choices) > _CHOICES_SHOWN:
            parts.append(f"and {len(field.choices) - _CHOICES_SHOWN} more")
        if field.default is not None:
            parts.append(f"default {compact(field.default)}")
        yield Row("  field: ", " · ".join(parts))
        for text in (field.title if field.title != field.name else "", field.description):
            yield from indented("    ", text, longest) if text else ()


def _choice(value: Value, name: str) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if name in (str(value), written) else f"{written} ({name})"


def _rows(block: Block, longest: int) -> Iterator[Row]:
    """Show a block; part by part where this desk has no rows for it."""
    if (rows := _ROWS.get(type(block))) is not None:
        yield from rows(block, longest)
    else:
        for part in block.parts:
            yield from _rows(part, longest)


def _questions(block: Questions, longest: int) -> Iterator[Row]:
    """Show the questions, or why they are unreadable."""
    if block.unreadable:
        yield Row("  these questions cannot be read: ", block.unreadable)
    for number, question in enumerate(block.questions, 1):
        heading = f"{question.header}: " if question.header else ""
        kind = "own words, a number" if question.kind == "number" else "own words"
        if question.options:
            kind = "several" if question.several else "one"
        yield Row(f"  {number}. ", heading + question.text, f" ({kind})")
        for place, option in enumerate(question.options, 1):
            description = f" — {option.description}" if option.description else ""
            yield Row(f"     {place}) ", option.label + description)
            yield from indented(" " * 8, option.preview, longest) if option.preview else ()


def _beside(text: str, block: Block) -> Iterator[Row]:
    yield from (Row(f"  {key}: ", text) for key in block.fields)


def _text(
    indent: str, block: CommandText | NewText | UnifiedDiff | Plan | AgentMessage, longest: int
) -> Iterator[Row]:
    """Show a text below its name, line by line, behind `indent`."""
    for key in block.fields:
        yield from _below(key, indent, block.text, longest)


def _change(change: TextChange, longest: int) -> Iterator[Row]:
    """Show what goes and what comes, marked as in a unified diff."""
    old, new = change.before, change.after
    yield Row("  change:")
    few = old.count("\n") + new.count("\n") <= _COMPARED_LINES
    if few and len(old) + len(new) <= longest:
        changes = compared(old.split("\n"), new.split("\n"))
        yield from (Row(f"    {side}", line) for side, line in changes)
    else:
        yield from indented("    -", old, longest)
        yield from indented("    +", new, longest)


def _edits(block: TextChanges, longest: int) -> Iterator[Row]:
    for number, edit in enumerate(block.edits, 1):
        yield Row(f"  {number} of {len(block.edits)}:")
        if edit.change is not None:
            yield from _change(edit.change, longest)
        if edit.rest:
            yield from json_rows("with", dict(edit.rest), longest)


# How a block is shown; any other is shown by its parts.
_ROWS: Mapping[type[Block], Callable[..., Iterator[Row]]] = {
    Json: lambda block, longest: json_rows("input", dict(block.fields), longest),
    OddInput: lambda block, longest: json_rows("input", block.value, longest),
    Questions: _questions,
    FilePath: lambda block, _: _beside(block.path, block),
    Description: lambda block, _: _beside(block.text, block),
    CommandText: partial(_text, "    "),
    TextChange: _change,
    TextChanges: _edits,
    NewText: partial(_text, "    +"),
    UnifiedDiff: partial(_text, "    "),
    Plan: partial(_text, "    "),
    AgentMessage: partial(_text, "    "),
    McpForm: _form,
    Fact: lambda block, longest: _labelled(block.short, block.value, longest),
}
