"""Many at once: marking cards, and deciding all that are marked once they were shown together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.decision import Decision, Verdict
from crabhook.ui.full.box import Purpose
from crabhook.ui.full.marks import alike_or_session
from crabhook.ui.full.markview import BundleContent, bundle_of
from crabhook.ui.full.moment import Mode
from crabhook.ui.full.proposal import Proposal

if TYPE_CHECKING:
    from crabhook.ui.full.screen import Screen


def mark(screen: Screen) -> None:
    """Mark the selected card, or unmark it."""
    if screen.card is not None:
        screen.marks.turn(screen.card)


def mark_alike(screen: Screen) -> None:
    """Mark what asks the very same; when that is marked, all of the session."""
    card = screen.card
    if card is None:
        return
    shared, cards = alike_or_session(card, screen.selection.waiting(), screen.marks)
    screen.marks.add(cards)
    screen.say(f"marked: {len(cards)} {shared}; {len(screen.marks)} in all, esc unmarks them")


def deny_marked(screen: Screen) -> None:
    """Ask for the one reason, then show what would be denied with it."""
    screen.type(
        Purpose.REASON,
        lambda text: decide_marked(screen, Decision(Verdict.DENY, reason=text)),
        subject=f"{len(screen.marks)} marked",
        needs="a denial needs a reason: the models read it to know what to do instead",
    )


def decide_marked(screen: Screen, decision: Decision) -> None:
    """Show what would be decided about all that are marked, to be confirmed."""
    shown: list[BundleContent] = []

    def content() -> BundleContent:
        cards = screen.marks.cards()
        if not shown or shown[0].marked != cards:
            shown[:] = [BundleContent(cards, bundle_of(cards, decision), decision)]
        return shown[0]

    if not content().bundle.groups:
        screen.say(f"none of the marked can be told {decision.verdict}")
        return
    back = screen.mode if screen.mode is Mode.TEXT else Mode.QUEUE
    screen.propose(Proposal(content, lambda: _give_all(screen, content(), decision), back=back))


def _give_all(screen: Screen, content: BundleContent, decision: Decision) -> None:
    """Decide what was shown; what is left out stays marked."""
    cards = content.bundle.cards
    faults = screen.answers.give_all(cards, decision)
    for card in cards:
        if card.number in screen.marks:
            screen.marks.turn(card)
    done = f"{len(cards) - len(faults)} of {len(cards)} {decision.verdict.done}"
    screen.say("; ".join([done, *faults[:3]]) if faults else "")
