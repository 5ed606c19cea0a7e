"""docs/maintaining/conformance.md, written from the results: the same bytes for the same behaviour."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from crabhook.model.card import Stance
from crabhook.model.event import Event
from crabhook.platforms.claude.events import held
from tests.conformance.cell import Cell, Undriven
from tests.support import requirements

if TYPE_CHECKING:
    from tests.conformance.outcome import Heard
    from tests.conformance.run import Result

PAGE = Path(__file__).resolve().parents[2] / "docs" / "maintaining" / "conformance.md"

_HEAD = """\
# What the real program did

Claude Code {version}, run against a scripted model, for every event and everything an operator can
decide about it. `make conformance` runs it all again and writes this page; it is not written by hand.

*Written* is what our hook printed, byte for byte as our writer made it of the operator's decision
(paths shortened); "nothing" is an empty standard output and exit code 0. *Seen* is what was then
observed of the program and of the requests to its model, each checked by code
(`tests/conformance/cells`). *Where* is a headless run (`claude -p`) or a session in a terminal.
What is *refused* no operator can decide: it was sent by hand, once, to see that it would have been lost.

{driven} cells were driven, {undriven} could not be.
"""
_PATHS = (
    (re.compile(r"/[^\s\"\\]+/home/\.claude/plans/[\w-]+\.md"), "~/.claude/plans/NAME.md"),
    (re.compile(r"/tmp/crab-\w+/home"), "~"),
)


def page(results: Sequence[Result], cells: Sequence[Cell | Undriven]) -> str:
    """Return the page for the results of all cells that can be driven, and those that cannot."""
    seen = {id(result.cell): result for result in results}
    undriven = sum(isinstance(cell, Undriven) for cell in cells)
    head = _HEAD.format(
        version=requirements.installed_version(), driven=len(results), undriven=undriven
    )
    sections = [
        _section(event, list(group), seen) for event, group in groupby(cells, lambda one: one.event)
    ]
    return "\n".join([head, *sections])


def _section(event: str, cells: Sequence[Cell | Undriven], seen: Mapping[int, Result]) -> str:
    rows = [
        _undriven(cell) if isinstance(cell, Undriven) else _row(seen[id(cell)]) for cell in cells
    ]
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


def row_start(cell: Cell | Undriven) -> str:
    """Return how the row of a cell begins."""
    where = cell.drive.where if isinstance(cell, Cell) else "not driven"
    return f"| {cell.title} | {where} | "


def _row(result: Result) -> str:
    facts = "; ".join(fact.words for fact in result.cell.facts)
    written = "<br>".join(_written(result)).replace("|", "\\|")
    return f"{row_start(result.cell)}{written} | {facts} |"


def _undriven(cell: Undriven) -> str:
    return f"{row_start(cell)}nothing | {cell.why} |"


def _written(result: Result) -> Iterator[str]:
    """Say what was written, leg by leg where there are two."""
    cell = result.cell
    if cell.words is not None:
        yield f"*refused*; sent by hand: {_code(result.outcome.decided[0])}"
        return
    if not result.outcome.decided:
        yield "nothing"
    said = [(f"{one.name}: " if cell.legs else "") + _code(one) for one in result.outcome.decided]
    if cell.together > 1:
        said.sort()  # whichever of them was written first
    for text, same in groupby(said):
        many = len(list(same))
        yield text if many == 1 else f"{many} times {text}"


def _code(heard: Heard) -> str:
    text = heard.stdout.decode().strip()
    for path, short in _PATHS:
        text = path.sub(short, text)
    said = f"`{text}`" if text else "nothing"
    if heard.exit_code:
        return f"exit code {heard.exit_code}, standard error `{heard.stderr.strip()}`"
    return said
