"""A plan that waits for approval: its text, the plan denied before it, and a denial by notes."""

from collections.abc import Mapping, Sequence

from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.decision import Verdict
from crabhook.present.body import body
from crabhook.present.document import Plan
from crabhook.present.summary import is_plan

_QUOTED = 300  # letters of a line that are quoted back
LABELS = (
    "good as it is",
    "needs a test",
    "out of scope",
    "explain why",
    "split this step",
    "do this first",
    "leave this out",
    "name the files",
)
"""What a digit notes on a line while nothing is typed."""
_OPENING = "The plan is not approved as it is. Change it as these notes say, then present it again."


def plan_of(card: Card) -> str:
    """Return the plan a card asks about, from whichever of its legs carries it."""
    for leg in card.requests:
        for plan in body(leg.event).of(Plan) if is_plan(leg.event) else ():
            if plan.text.strip():
                return plan.text
    return ""


def denied_before(card: Card, desk: Replica) -> str:
    """Return the agent's last plan that was denied before this card; empty where none was."""
    denied = (
        earlier
        for earlier in reversed(desk.ended())
        if earlier.number < card.number and _agent(earlier) == _agent(card)
        if earlier.decision is not None and earlier.decision.verdict is Verdict.DENY
    )
    return next(filter(None, map(plan_of, denied)), "")


def _agent(card: Card) -> tuple[str, ...]:
    return card.event.platform, card.event.session, card.event.agent_id


def denial_of(lines: Sequence[str], notes: Mapping[int, str]) -> str:
    """Return a denial's reason: each line that has a note, quoted, and the note.

    `notes` are by the line's place from 0; the place behind the last line is the whole plan's.
    """
    parts = [_OPENING] if notes else []
    for place, note in sorted(notes.items()):
        if place < len(lines):
            line = lines[place].strip()
            quoted = line if len(line) <= _QUOTED else line[:_QUOTED] + "…"
            parts.append(f"Line {place + 1}:\n> {quoted}\n{note}")
        else:
            parts.append(f"On the whole plan:\n{note}")
    return "\n\n".join(parts)
