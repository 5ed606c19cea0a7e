"""What our hook printed in each cell of a whole run, kept as data: one line a cell, in their order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tests.conformance.cell import Cell

RECORD = Path(__file__).parent / "seen.json"

Key: TypeAlias = tuple[str, str, str]
"""The event of a cell, its title, and where the agent ran."""


@dataclass(frozen=True, slots=True)
class Record:
    """What was written in each cell, and by which version of Claude Code it was taken."""

    version: str
    written: Mapping[Key, Sequence[str]]


def key_of(cell: Cell) -> Key:
    """Return what a cell is found by."""
    return cell.event, cell.title, cell.drive.where


def read_record() -> Record:
    """Return the record as it is kept."""
    kept = json.loads(RECORD.read_text(encoding="utf-8"))
    return Record(
        kept["version"],
        {(event, title, where): written for event, title, where, written in kept["cells"]},
    )


def write_record(record: Record) -> None:
    """Keep a record: the same bytes for the same behaviour."""
    rows = [[*key, written] for key, written in record.written.items()]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    text = f'{{"version": {json.dumps(record.version)}, "cells": [\n{lines}\n]}}\n'
    RECORD.write_text(text, encoding="utf-8")
