"""The conformance table leaves nothing out, and its record has every cell."""

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.platforms.claude.events import EVENTS
from crabhook.platforms.event_table import Also
from tests.conformance.cell import Cell
from tests.conformance.cells import ALL
from tests.conformance.page import page
from tests.conformance.record import key_of, read_record
from tests.support.requirements import pinned_version
from tests.support.rows import every_row

SAYS = {Also.CONTEXT: "note", Also.HALT: "halt", Also.USER: "user_message"}
"""The part of a decision that each part of an answer comes from."""


def given(name: str) -> list[Decision]:
    return [
        cell.decision
        for cell in ALL
        if cell.event == name and cell.decision and not getattr(cell, "words", None)
    ]


@every_row("name", EVENTS)
def test_every_verdict_of_every_event_has_a_cell(name: str) -> None:
    verdicts = {decision.verdict for decision in given(name)} - {Verdict.PASS}
    assert verdicts == set(EVENTS[name].verdicts)
    assert any(cell.event == name for cell in ALL)


@every_row("name", EVENTS)
@every_row("part", SAYS)
def test_what_an_answer_carries_is_carried_in_a_cell_and_what_it_does_not_in_none(
    part: Also, name: str
) -> None:
    said = any(getattr(decision, SAYS[part]) for decision in given(name))
    note_with_result = name == "PermissionRequest" and part is Also.CONTEXT
    assert said == (part in EVENTS[name].also or note_with_result)


@pytest.mark.parametrize(
    "field", ["updated_input", "output", "content", "permissions", "interrupt"]
)
def test_every_other_part_of_a_decision_is_carried_in_a_cell(field: str) -> None:
    completed = {"updated_input": "changed", "permissions": "always"}.get(field, "")
    assert any(
        (completed and completed in cell.title) or getattr(cell.decision, field, None)
        for cell in ALL
    )


def test_the_record_has_every_driven_cell_and_no_other_of_the_pinned_version() -> None:
    record = read_record()
    assert record.version == pinned_version()
    assert list(record.written) == [key_of(cell) for cell in ALL if isinstance(cell, Cell)]


def test_the_printed_tables_have_a_row_for_every_cell() -> None:
    rows = [line for line in page(read_record(), ALL).splitlines() if line.startswith("| ")]
    events = {cell.event for cell in ALL}
    assert len(rows) == 2 * len(events) + len(ALL)
