"""What is shown of a card, by what the card is about and where the keys go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.ui.full.dialogs.mcp_form import FillContent
from crabhook.ui.full.dialogs.mcp_form_state import is_link
from crabhook.ui.full.dialogs.plan import ChangesContent, NotesContent
from crabhook.ui.full.dialogs.question import FormContent, ReviewContent
from crabhook.ui.full.draw import TextContent
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.linkview import LinkContent

if TYPE_CHECKING:
    from crabhook.broker.card import Card
    from crabhook.ui.full.detail import Content
    from crabhook.ui.full.dialogs.plan import PlanNotes
    from crabhook.ui.full.screen import Screen


def card_content(screen: Screen, card: Card) -> Content:
    """Return the way to show the selected card that fits what it asks."""
    if (form := screen.form) is not None:
        if screen.mode is Mode.REVIEW:
            return ReviewContent(card, form)
        return FormContent(card, form, focused=screen.mode is Mode.FORM)
    if is_link(card.event):
        return LinkContent(card)
    if (filling := screen.filling) is not None:
        return FillContent(card, filling, focused=screen.mode is Mode.FILL)
    plan = screen.plan
    shown = None if plan is None else _plan_content(screen, card, plan)
    return shown or TextContent(card, screen.surroundings.of(card))


def _plan_content(screen: Screen, card: Card, plan: PlanNotes) -> Content | None:
    """Return the plan line by line, or its changes, where that was asked for."""
    if screen.mode is Mode.NOTES:
        return NotesContent(card, plan)
    if screen.comparing == card.number and (before := screen.plans.before(card)):
        return ChangesContent(card, before, plan.plan)
    return None
