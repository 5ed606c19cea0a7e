"""Plans on the cards that were looked at: the notes made on their lines, what was rejected before.

A plan is rejected with notes: the denial's reason quotes each line that has
one, so that the model knows what to change where.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk
from crabhook.model.decision import Verdict
from crabhook.ui.full.markdown import Mark, marks_of
from crabhook.ui.summary import is_plan

MOST_LINES = 5_000  # of a plan that can be stood on; more is no plan that a person reads
_QUOTED = 300  # letters of a line that are quoted back
_OPENING = "The plan is not approved as it is. Change it as these notes say, then present it again."


def plan_of(card: Card | None) -> str:
    """Return the plan a card asks about, from whichever of its legs carries it."""
    for leg in card.requests if card else ():
        tool = leg.event.tool
        if tool is not None and is_plan(leg.event) and isinstance(tool.input, dict):
            plan = tool.input.get("plan")
            if isinstance(plan, str) and plan.strip():
                return plan
    return ""


def rejected_before(card: Card, ended: Iterable[Card]) -> str:
    """Return the plan of the same agent that was denied last before this card; `ended` by age."""
    found = ""
    for earlier in ended:
        denied = earlier.decision is not None and earlier.decision.verdict is Verdict.DENY
        if earlier.number < card.number and denied and _same_agent(earlier, card):
            found = plan_of(earlier) or found
    return found


def _same_agent(one: Card, other: Card) -> bool:
    a, b = one.event, other.event
    return (a.platform, a.session, a.agent_id) == (b.platform, b.session, b.agent_id)


class PlanNotes:
    """Notes on a plan's lines, and where the operator stands: on a line, or behind the last.

    Behind the last line stands the note on the whole plan.
    """

    def __init__(self, plan: str) -> None:
        self.plan = plan
        self.at = 0
        self._notes: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"<PlanNotes {len(self._notes)} on {len(self.lines)} lines>"

    @cached_property
    def lines(self) -> Sequence[Mark]:
        """The plan's lines; the last of a plan that is too long holds what is left of it."""
        marks = []
        for mark in marks_of(self.plan):
            marks.append(mark)
            if len(marks) == MOST_LINES:
                break
        return marks

    @property
    def whole(self) -> bool:
        """Whether every line of the plan can be stood on."""
        return len(self.lines) < MOST_LINES

    def move(self, step: int) -> None:
        """Stand on another line; a blank one is passed over, the first and the last are ends."""
        at, last = self.at, len(self.lines)
        while 0 <= at + step <= last:
            at += step
            if at == last or self.lines[at].text.strip():
                self.at = at
                return

    def far(self, step: int) -> None:
        """Stand on the first line, or behind the last."""
        self.at = 0 if step < 0 else len(self.lines)

    def note_at(self, place: int) -> str:
        """Return the note on a line; that on the whole plan stands behind the last."""
        return self._notes.get(place, "")

    def write(self, text: str) -> None:
        """Note this on the line stood on; an empty text takes the note back."""
        if text.strip():
            self._notes[self.at] = text.strip()
        else:
            self._notes.pop(self.at, None)

    @property
    def count(self) -> int:
        """How many notes there are."""
        return len(self._notes)

    def reason(self) -> str:
        """Return the denial's reason: each line that has a note, quoted, and the note."""
        if not self._notes:
            return ""
        parts = [_OPENING]
        for place in sorted(self._notes):
            if place < len(self.lines):
                line = self.lines[place].text.strip()
                quoted = line if len(line) <= _QUOTED else line[:_QUOTED] + "…"
                parts.append(f"Line {place + 1}:\n> {quoted}\n{self._notes[place]}")
            else:
                parts.append(f"On the whole plan:\n{self._notes[place]}")
        return "\n\n".join(parts)


class Plans:
    """What is known of the plans on cards, by the number of the card."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._notes: dict[int, PlanNotes] = {}
        self._before: dict[int, str] = {}

    def __repr__(self) -> str:
        return f"<Plans {sorted(self._notes)}>"

    def of(self, card: Card | None) -> PlanNotes | None:
        """Return the notes on a card's plan, if it asks about one; a plan that changed has none."""
        plan = plan_of(card)
        if card is None or not plan:
            return None
        notes = self._notes.get(card.number)
        if notes is None or notes.plan != plan:
            notes = self._notes[card.number] = PlanNotes(plan)
        return notes

    def before(self, card: Card) -> str:
        """Return the plan that was denied before this one; empty where none was."""
        if card.number not in self._before:
            self._before[card.number] = rejected_before(card, self._desk.ended())
        return self._before[card.number]

    def forget(self, number: int) -> None:
        """Forget the plan of a card that nobody looks at any more."""
        self._notes.pop(number, None)
        self._before.pop(number, None)
