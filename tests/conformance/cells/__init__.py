"""All cells of the table, event by event in the order of the code's own table."""

from crabhook.platforms.claude.events import EVENTS
from tests.conformance.cell import Cell, Undriven
from tests.conformance.cells import (
    asking,
    calls,
    forms,
    observed,
    prompts,
    requests,
    results,
    session,
    skills,
    stops,
)

_KINDS = (calls, skills, asking, requests, results, prompts, stops, forms, session, observed)
ALL: tuple[Cell | Undriven, ...] = tuple(
    sorted(
        (cell for kind in _KINDS for cell in kind.CELLS),
        key=lambda cell: list(EVENTS).index(cell.event),
    )
)
