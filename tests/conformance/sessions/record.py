"""What was seen in each cell of a whole run, kept as data: one line a cell, in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crabhook.platforms import PLATFORMS
from tests.conformance.sessions.cells import SESSIONS, Cell, Session
from tests.support.requirements import KNOWN, OLDER, pinned_version

if TYPE_CHECKING:
    from tests.conformance.sessions.play import Outcome

RECORD = Path(__file__).with_name("seen.json")


@dataclass(frozen=True, slots=True)
class Row:
    """A cell as it went with one version: what our hook printed, and what was seen."""

    edition: str
    session: str
    cell: str
    written: str
    seen: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """What a row is found by."""
        return self.edition, self.session, self.cell


def editions(session: Session) -> tuple[str, ...]:
    """Return the installed versions that a session is run with, the newest first."""
    both = (session.agent, session.agent + OLDER)
    return tuple(name for name in both if name in KNOWN and name not in session.undriven)


def planned() -> Iterator[tuple[Session, str]]:
    """Yield each session with each version that it is run with."""
    return ((session, edition) for session in SESSIONS for edition in editions(session))


def rows_of(outcome: Outcome) -> Iterator[Row]:
    """Yield what a run of a session is kept as."""
    for cell in outcome.session.cells:
        written, seen = outcome.written[cell], outcome.seen[cell]
        yield Row(outcome.edition, outcome.session.title, cell.title, written, seen)


def versions() -> dict[str, str]:
    """Return the version of each edition that the tests are written for."""
    ran = {edition for _, edition in planned()}
    return {edition: pinned_version(edition) for edition in KNOWN if edition in ran}


def read_record() -> tuple[Mapping[str, str], Sequence[Row]]:
    """Return the versions that the record was taken with, and its rows."""
    kept = json.loads(RECORD.read_text("utf-8"))
    return kept["versions"], [Row(*row[:4], tuple(row[4])) for row in kept["cells"]]


def write_record(rows: Iterable[Row]) -> None:
    """Keep a record: the same bytes for the same behaviour."""
    lines = ",\n".join(
        json.dumps([*row.key, row.written, list(row.seen)], ensure_ascii=False) for row in rows
    )
    kept = json.dumps(versions())
    RECORD.write_text(f'{{"versions": {kept}, "cells": [\n{lines}\n]}}\n', "utf-8")


def page(record: tuple[Mapping[str, str], Sequence[Row]]) -> str:
    """Return the record as a table for each session: where versions differ, a row for each."""
    by_version, rows = record
    by_key = {row.key: row for row in rows}
    parts = []
    for session in SESSIONS:
        ran = ", ".join(by_version[edition] for edition in editions(session))
        title = PLATFORMS[session.agent].title
        undriven = [f"\n{by_version[name]}: {why}\n" for name, why in session.undriven.items()]
        parts += [f"\n## {title} {ran}: {session.mode}, {session.stance.value}\n", *undriven]
        parts += ["| decided | written | seen |", "| --- | --- | --- |"]
        for cell in session.cells:
            parts += list(_lines(session, cell, by_key, by_version))
    return "\n".join(parts)


def _lines(
    session: Session,
    cell: Cell,
    by_key: Mapping[tuple[str, str, str], Row],
    by_version: Mapping[str, str],
) -> Iterator[str]:
    found = [by_key[edition, session.title, cell.title] for edition in editions(session)]
    title = cell.title.replace(" | ", ", ")
    if len({(row.written, row.seen) for row in found}) == 1:
        found = found[:1]
    for row in found:
        which = f" ({by_version[row.edition]})" if len(found) > 1 else ""
        written = f"`{row.written}`".replace("|", "\\|") if row.written else "nothing"
        yield f"| {title}{which} | {written} | {'; '.join(row.seen)} |"
