"""How long a card is put aside, or waits longer, by one key or one tap."""

from crabhook.model.card import Card

LONGER = 600.0  # seconds a card is given
_ASIDE = 300.0  # seconds a card is put aside for
_LEFT_TO_DECIDE = 60.0  # seconds before its end at which a card is back at the latest


def aside_for(card: Card, now: float) -> float:
    """Return for how many seconds a card is put aside; `now` is on the desk's clock."""
    left = card.wait_until - now
    return min(_ASIDE, max(left - _LEFT_TO_DECIDE, left / 2))
