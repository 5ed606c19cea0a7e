"""How a field of an event is told to a person: its label, and the form in which it is shown.

Each agent's table of events names the fields that tell most; a screen shows them
first, in the table's order.
"""

from dataclasses import dataclass
from enum import Enum


class How(Enum):
    """The forms in which a screen shows a field; a value that does not fit is shown as FIELD."""

    FIELD = "a short value beside its label, any other below it"
    PROSE = "a text, in full"
    MARKDOWN = "a text that a model wrote"
    SEVERAL = "a list, item by item"
    RESULT = "what a tool gave: its text as it is, or its fields"
    MONEY = "an amount of dollars"
    MODEL = "the name of a model"
    FLAG = "true or false, each told by a sentence"


@dataclass(frozen=True, slots=True)
class Told:
    """How one field is told.

    `yes` and `no`: the sentences of a FLAG; an empty one is not shown.
    `short`: its label on the plain desk, where that desk has none of its own.
    """

    label: str
    how: How = How.FIELD
    yes: str = ""
    no: str = ""
    short: str = ""
