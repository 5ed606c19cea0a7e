"""The document of a card that shows one event, without a desk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.model.card import Card, Leg
from crabhook.present.card import CardDocument, card_document

if TYPE_CHECKING:
    from crabhook.model.event import Event


def document_of(event: Event) -> CardDocument:
    """Return what a card with this event says."""
    return card_document(Card(1, (Leg("request", event, 10.0),), 0.0))
