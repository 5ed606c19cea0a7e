"""What the doctor says: one thing that was looked at, how it is, and what mends it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Figure: TypeAlias = int | float | str

_SHOWN = 4


class Status(StrEnum):
    """How a thing is."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"
    UNKNOWN = "unknown"  # it could not be looked at


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    `id` names what was looked at and never changes its meaning.  `what`: what
    was found.  `means`: what comes of it for the agent or its operator.
    `mend`: the command for a shell that mends it; empty where none can.
    `advice`: what a person has to know or do besides.  `agent` is empty where
    it is not one agent's.  `figures` are what was measured, for programs.
    """

    id: str
    status: Status
    what: str
    means: str = ""
    mend: str = ""
    advice: str = ""
    agent: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)


def several(texts: Sequence[str]) -> str:
    """Return the first few of many texts as one, and how many more there are."""
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 0 where all is well or but warned of, 1 on a fault, 2 where one could not look."""
    found = {finding.status for finding in findings}
    return 1 if Status.FAULT in found else 2 if Status.UNKNOWN in found else 0
