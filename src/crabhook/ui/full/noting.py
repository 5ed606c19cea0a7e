"""Going through a plan line by line and rejecting it with notes; what changed since another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.decision import Decision, Verdict
from crabhook.ui.full.box import Purpose
from crabhook.ui.full.giving import give
from crabhook.ui.full.moment import Mode
from crabhook.ui.full.planview import DenialContent
from crabhook.ui.full.proposal import Proposal

if TYPE_CHECKING:
    from crabhook.ui.full.screen import Screen


def begin(screen: Screen) -> None:
    """Go into the plan, to stand on its lines."""
    if screen.plan is not None:
        screen.mode = Mode.NOTES
        screen.view().reveal(screen.plan.at)


def move(screen: Screen, step: int) -> None:
    """Stand on another line; a long way leads to the first or behind the last."""
    if (plan := screen.plan) is not None:
        if abs(step) > len(plan.lines):
            plan.far(step)
        else:
            plan.move(step)
        screen.view().reveal(plan.at)


def note(screen: Screen) -> None:
    """Type a note on the line."""
    if (plan := screen.plan) is not None:
        screen.type(Purpose.NOTE_ON_PLAN, plan.write, text=plan.note_at(plan.at))


def unnote(screen: Screen) -> None:
    """Take back the note on the line."""
    if (plan := screen.plan) is not None:
        plan.write("")


def send(screen: Screen) -> None:
    """Show the denial that the notes make, to be confirmed."""
    card, plan = screen.card, screen.plan
    if card is None or plan is None:
        return
    if not plan.count:
        screen.say("there is no note yet: c makes one on the marked line")
        return
    screen.propose(
        Proposal(
            lambda: DenialContent(card, plan),
            lambda: give(screen, Decision(Verdict.DENY, reason=plan.reason())),
            number=card.number,
            back=Mode.NOTES,
        )
    )


def changes(screen: Screen) -> None:
    """Show what changed since the plan that was denied before, or the plan again."""
    if (card := screen.card) is not None:
        screen.comparing = None if screen.comparing == card.number else card.number
