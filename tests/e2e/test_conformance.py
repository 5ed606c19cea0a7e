"""The cells of the conformance table that matter most, on every run of the tests."""

from __future__ import annotations

import pytest

from tests.conformance.cell import Cell
from tests.conformance.cells import ALL
from tests.conformance.page import written
from tests.conformance.record import key_of, read_record
from tests.conformance.run import run
from tests.conformance.sessions import record as sessions
from tests.conformance.sessions.cells import SESSIONS
from tests.conformance.sessions.play import play
from tests.conformance.sessions.record import editions
from tests.conformance.sessions.run import faults
from tests.support import requirements
from tests.support.requirements import OLDER

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

RECORD = read_record()
CELLS = {cell.name: cell for cell in ALL if isinstance(cell, Cell)}
LEGS = pytest.mark.parametrize(
    "leg", ["PreToolUse", "PermissionRequest"], ids=["gate", "companion"]
)


async def goes_as_it_says(name: str) -> None:
    """Run a cell of the table, see each of its facts, and that our hook wrote what is kept."""
    requirements.insist()
    result = await run(CELLS[name])
    assert not result.outcome.trouble, result.outcome.screen
    unseen = [
        fact.words for fact, seen in zip(result.cell.facts, result.seen, strict=True) if not seen
    ]
    assert not unseen, result.outcome
    assert written(result) == RECORD.written[key_of(result.cell)]


async def test_an_agent_that_stops_is_kept_going_with_an_instruction() -> None:
    await goes_as_it_says("Stop: keep going")


@LEGS
async def test_a_plan_approved_with_an_edit_is_the_plan_the_model_follows(leg: str) -> None:
    await goes_as_it_says(f"{leg}: ExitPlanMode: allow with a changed plan")


@LEGS
async def test_a_plan_rejected_with_notes_stays_a_plan_and_the_model_reads_them(leg: str) -> None:
    await goes_as_it_says(f"{leg}: ExitPlanMode: deny")


async def test_a_form_filled_in_at_the_desk_is_what_its_server_receives() -> None:
    await goes_as_it_says("Elicitation: accept")


@LEGS
async def test_an_edited_command_is_what_really_runs(leg: str) -> None:
    await goes_as_it_says(f"{leg}: allow with changed input")


async def test_an_always_allow_stops_the_next_prompt() -> None:
    await goes_as_it_says("PermissionRequest: allow always: a suggested rule, for the session")


async def test_parallel_calls_of_one_session_are_each_decided_for_themselves() -> None:
    await goes_as_it_says("PreToolUse: two calls at once: allow one, deny the other")


@pytest.mark.parametrize("edition", [name for name in requirements.KNOWN if OLDER in name])
async def test_a_session_of_an_older_version_goes_as_the_record_has_it(edition: str) -> None:
    requirements.insist(edition)
    session = next(session for session in SESSIONS if edition in editions(session))
    kept = {row.key: row for row in sessions.read_record()[1]}
    assert faults(await play(session, edition), kept) == []
