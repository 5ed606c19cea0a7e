"""What a call may do and how bad that is: values, told by the rules' floor and shown by screens."""

from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How much can go wrong: nothing that is known, look (▲), stop and look (▲▲)."""

    NONE = 0
    CAUTION = 1
    DANGER = 2


class Where(IntEnum):
    """Where a file is, the least of an operator's worries first."""

    INSIDE = 0
    TEMPORARY = 1
    UNKNOWN = 2
    OUTSIDE = 3


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a call may do: a name of kinds.toml, and words to show with their level.

    `objects` are what it is on, as the words have them; of files, `where` they are.
    """

    kind: str
    level: Level
    words: str
    objects: tuple[str, ...] = ()
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Risk:
    """What a call may do, the worst first.

    `unknown` says, each in words, of what nothing is known.  No effect and nothing
    unknown is "nothing risky found", which is not "safe".
    """

    level: Level = Level.NONE
    effects: tuple[Effect, ...] = ()
    unknown: tuple[str, ...] = ()


NO_RISK = Risk()
UNTOLD = Risk(Level.CAUTION, (Effect("untold", Level.CAUTION, "what this does cannot be told"),))
"""The risk of a call that nobody could look at."""
