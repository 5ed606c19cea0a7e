"""The life of a card.

The law of this file: a card waits, then ends exactly once.  DECIDED, EXPIRED
and WITHDRAWN are final; whatever happens to a final card changes nothing, and
the one who tried is told so.
"""

from collections.abc import Mapping
from enum import StrEnum

from crabhook.model.errors import CrabhookError


class State(StrEnum):
    """Where a card is in its life."""

    WAITING = "waiting"
    DECIDED = "decided"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Happening(StrEnum):
    """What can happen to a card."""

    ANSWERED = "answered"
    TIMED_OUT = "timed out"
    LEFT = "left"


TRANSITIONS: Mapping[tuple[State, Happening], State] = {
    (State.WAITING, Happening.ANSWERED): State.DECIDED,
    (State.WAITING, Happening.TIMED_OUT): State.EXPIRED,
    (State.WAITING, Happening.LEFT): State.WITHDRAWN,
}


class TooLateError(CrabhookError):
    """Something was done to a card that had already ended; nothing changed."""


def after(state: State, happening: Happening) -> State:
    """Return the state that follows; raise TooLateError where none does."""
    try:
        return TRANSITIONS[state, happening]
    except KeyError:
        raise TooLateError(f"already {state}") from None
