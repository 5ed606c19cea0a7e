"""A body of a card that no agent sends: a list of steps, some of them done.

It is all that a new body takes: one block, and one row of the table of choosers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.datatypes import frozen
from crabhook.present.body import Chooser
from crabhook.present.document import Block, Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crabhook.model.jsontext import Value


@frozen
class Checklist(Block):
    """Steps, each with whether it is done."""

    steps: tuple[tuple[str, bool], ...]

    @property
    def parts(self) -> tuple[Block, ...]:
        """The steps as a list in Markdown, which each face can draw."""
        rows = (f"- {'done' if done else 'open'}: {step}" for step, done in self.steps)
        return (Plan(self.fields, "\n".join(rows)),)


def checklist(key: str, given: Mapping[str, Value]) -> Checklist | None:
    """Return the block of a field that is a list of steps."""
    steps = []
    for item in items if isinstance(items := given[key], list) else ():
        match item:
            case {"step": str(step), "done": bool(done)} if len(item) == 2:
                steps.append((step, done))
            case _:
                return None
    return Checklist({key: given[key]}, tuple(steps)) if steps else None


ROW = {"checklist": Chooser(checklist, leads=True)}
