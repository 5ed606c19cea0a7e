"""What can be decided about an event, for whoever offers the choice; no opinion always can."""

from dataclasses import dataclass
from enum import Flag, auto

from crabhook.model.decision import Verdict


class Beside(Flag):
    """What may go with a verdict; each but RULE is a part of a Decision."""

    NOTHING = 0
    NOTE = auto()  # with an allow: a word to the model
    INPUT = auto()  # with an allow: another input than the agent's
    PERMISSIONS = auto()  # with an allow: permission updates
    OUTPUT = auto()  # with an allow: another output than the tool's
    INTERRUPT = auto()  # with a denial: the end of the turn
    HALT = auto()  # with any: the end of the session's turn, with a reason
    MESSAGE = auto()  # with any: a message to the agent's user
    SUPPRESS = auto()  # with any: the wish that the agent does not show what the hook says
    RULE = auto()  # with an allow: a rule of the owner's, which decides such a call from now on


@dataclass(frozen=True, slots=True)
class Choices:
    """The verdicts an event can be answered with, and what may go with them."""

    verdicts: frozenset[Verdict] = frozenset({Verdict.PASS})
    beside: Beside = Beside.NOTHING

    def __and__(self, other: "Choices") -> "Choices":
        """Return what both can be told: a call's two legs get one decision."""
        return Choices(self.verdicts & other.verdicts, self.beside & other.beside)


PASS_ALONE = Choices()
