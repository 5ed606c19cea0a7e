"""The record as tables for people, and what a run has written for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from crabhook.model.card import Stance
from crabhook.model.event import Event
from crabhook.platforms.claude.events import held
from tests.conformance.cell import Cell, Undriven
from tests.conformance.record import Record, key_of

if TYPE_CHECKING:
    from tests.conformance.outcome import Heard
    from tests.conformance.run import Result

_HEAD = """\
# What Claude Code {version} did with each decision

{driven} cells were driven, {undriven} could not be.
"""
_PATHS = (
    (re.compile(r"/[^\s\"\\]+/home/\.claude/plans/[\w-]+\.md"), "~/.claude/plans/NAME.md"),
    (re.compile(r"/tmp/crab-\w+/home"), "~"),
)


def page(record: Record, cells: Sequence[Cell | Undriven]) -> str:
    """Return a table for each event: what was decided, where, what was written, what was seen."""
    undriven = sum(isinstance(cell, Undriven) for cell in cells)
    head = _HEAD.format(version=record.version, driven=len(cells) - undriven, undriven=undriven)
    sections = [
        _section(event, list(group), record)
        for event, group in groupby(cells, lambda cell: cell.event)
    ]
    return "\n".join([head, *sections])


def _section(event: str, cells: Sequence[Cell | Undriven], record: Record) -> str:
    rows = [_undriven(cell) if isinstance(cell, Undriven) else _row(cell, record) for cell in cells]
    table = ["| decided | where | written | seen |", "| --- | --- | --- | --- |", *rows]
    return f"## {event}\n\nHeld: {when_held(event)}.\n\n" + "\n".join(table) + "\n"


def when_held(event: str) -> str:
    """Return when an event waits for the operator, by the stance of its hooks."""
    gate, companion = (
        held(Event("claude", event), stance).value for stance in (Stance.GATE, Stance.COMPANION)
    )
    if gate == companion:
        return gate
    return f"as a gate {gate}; as a companion {companion}"


def _row(cell: Cell, record: Record) -> str:
    facts = "; ".join(fact.words for fact in cell.facts)
    written = "<br>".join(record.written[key_of(cell)]).replace("|", "\\|")
    return f"| {cell.title} | {cell.drive.where} | {written} | {facts} |"


def _undriven(cell: Undriven) -> str:
    return f"| {cell.title} | not driven | nothing | {cell.why} |"


def written(result: Result) -> Sequence[str]:
    """Return what our hook printed in a cell, leg by leg where there are two."""
    cell = result.cell
    if cell.words is not None:
        return [f"*refused*; sent by hand: {_code(result.outcome.decided[0])}"]
    if not result.outcome.decided:
        return ["nothing"]
    replies = [
        (f"{heard.name}: " if cell.legs else "") + _code(heard) for heard in result.outcome.decided
    ]
    if cell.together > 1:
        replies.sort()  # whichever of them was written first
    counted = [(text, len(list(same))) for text, same in groupby(replies)]
    return [text if many == 1 else f"{many} times {text}" for text, many in counted]


def _code(heard: Heard) -> str:
    text = heard.stdout.decode().strip()
    for path, short in _PATHS:
        text = path.sub(short, text)
    printed = f"`{text}`" if text else "nothing"
    if heard.exit_code:
        return f"exit code {heard.exit_code}, standard error `{heard.stderr.strip()}`"
    return printed
