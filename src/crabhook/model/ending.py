"""How a wait ended that nobody's decision ended.

The words for people are in `crabhook.model.wording`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Ended(StrEnum):
    """An end that needs no more said of it; the value is how the record and programs name it."""

    HOOK_LEFT = "hook-left"  # the agent ended the hook, or its connection was lost
    DESK_CLOSED = "desk-closed"  # the operator left, and nobody was to decide any more
    AWAY = "away"  # the operator is away, so the agent's own user is to decide
    NEVER_CAME_BACK = "never-came-back"  # the server began again, and the hook did not return
    LEFT_BEFORE = "left-before"  # the same call was left to the agent's own user a moment ago


class Follows(StrEnum):
    """What becomes of an event that nobody decided in time, as far as its hook says."""

    GOES_ON = "goes-on"  # it was no question
    DENIED = "denied"  # its hook denies it
    USER_ASKED = "user-asked"  # its hook hands it to the agent's own user, where it can
    OWN_RULES = "own-rules"  # the agent's own rules decide
    OWN_USER = "own-user"  # the agent's own user decides
    DENIED_OR_OWN_RULES = "denied-or-own-rules"  # whether its hook denies it is not known
    DENIED_OR_OWN_USER = "denied-or-own-user"


@dataclass(frozen=True, slots=True)
class AnsweredAtAgent:
    """The agent tells that it was answered there; `outcome` in its words, empty for none."""

    outcome: str = ""


@dataclass(frozen=True, slots=True)
class TimeUp:
    """Nobody decided in time."""

    follows: Follows


EndReason: TypeAlias = Ended | AnsweredAtAgent | TimeUp
