"""What decides which keys make sense: where they go, and what can be done there now."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import TypeAlias


class Mode(StrEnum):
    """Where keys go."""

    QUEUE = auto()
    TEXT = auto()
    FORM = auto()
    REVIEW = auto()
    BOX = auto()
    HELP = auto()


@dataclass(frozen=True, slots=True)
class Moment:
    """The selected card as far as keys care, and where they go.

    `card`: there is one.  `waits`: it has not ended.  `form`: it asks
    questions we can read.  `held`: some allow is held and may be taken back.
    """

    mode: Mode = Mode.QUEUE
    card: bool = False
    waits: bool = False
    form: bool = False
    held: bool = False


When: TypeAlias = Callable[[Moment], bool]


def at(*modes: Mode) -> When:
    """Return the condition that keys go to one of these."""
    return lambda moment: moment.mode in modes


def with_a_card(moment: Moment) -> bool:
    """In the queue, with a card to go into."""
    return moment.mode is Mode.QUEUE and moment.card


def deciding(moment: Moment) -> bool:
    """At a card that waits, wherever it is looked at."""
    return moment.waits and moment.mode in (Mode.QUEUE, Mode.TEXT, Mode.FORM)


def deciding_a_call(moment: Moment) -> bool:
    """At a card that waits and has no questions."""
    return deciding(moment) and not moment.form


def answering(moment: Moment) -> bool:
    """At a card whose questions wait, in the form or still in the queue."""
    return moment.waits and moment.form and moment.mode in (Mode.QUEUE, Mode.FORM)


def in_the_form(moment: Moment) -> bool:
    """In a form that waits."""
    return moment.waits and moment.mode is Mode.FORM


def reviewing(moment: Moment) -> bool:
    """Before answers that could be sent."""
    return moment.waits and moment.mode is Mode.REVIEW


def taking_back(moment: Moment) -> bool:
    """While an allow is held and the request can be seen."""
    return moment.held and moment.mode not in (Mode.BOX, Mode.HELP)


def always(_moment: Moment) -> bool:
    """At any time."""
    return True
