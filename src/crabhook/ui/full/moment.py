"""What decides which keys make sense: where they go, and what can be done there now."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import TypeAlias

from crabhook.model.choices import PASS_ALONE, Beside, Choices
from crabhook.model.decision import Verdict


class Mode(StrEnum):
    """Where keys go."""

    QUEUE = auto()
    TEXT = auto()
    FORM = auto()
    REVIEW = auto()
    BOX = auto()
    EDIT = auto()
    MENU = auto()
    CONFIRM = auto()
    FILL = auto()
    NOTES = auto()
    HELP = auto()


@dataclass(frozen=True, slots=True)
class Moment:
    """The selected card as far as keys care, and where they go.

    `card`: there is one.  `waits`: it has not ended.  `form`: it asks
    questions we can read.  `held`: some allow is held and may be taken back.
    `choices`: what can be decided about the card.  `suggests`: its agent
    suggests what to allow from now on.  `marked`: some cards are marked.
    `away`: the operator is away.  `fields`: it is a form to fill in.  `plan`:
    it asks about a plan; `revised`: about one that followed a denied one.
    `turns`: the list has something to change about all its rows.  `keeps`: the line being typed
    is only kept, to go with something that is sent later.
    """

    mode: Mode = Mode.QUEUE
    card: bool = False
    waits: bool = False
    form: bool = False
    held: bool = False
    choices: Choices = PASS_ALONE
    suggests: bool = False
    marked: bool = False
    away: bool = False
    fields: bool = False
    plan: bool = False
    revised: bool = False
    turns: bool = False
    keeps: bool = False


When: TypeAlias = Callable[[Moment], bool]


def at(*modes: Mode) -> When:
    """Return the condition that keys go to one of these."""
    return lambda moment: moment.mode in modes


def both(*whens: When) -> When:
    """Return the condition that all of these are met."""
    return lambda moment: all(when(moment) for when in whens)


def no(when: When) -> When:
    """Return the condition that this one is not met."""
    return lambda moment: not when(moment)


def can(verdict: Verdict, beside: Beside = Beside.NOTHING) -> When:
    """Return the condition that the card can be told this, with that beside it."""
    return lambda moment: (
        deciding(moment) and verdict in moment.choices.verdicts and beside in moment.choices.beside
    )


def can_carry(beside: Beside) -> When:
    """Return the condition that this can go with some verdict about the card."""
    return lambda moment: deciding(moment) and beside in moment.choices.beside


def with_a_card(moment: Moment) -> bool:
    """In the queue, with a card to go into."""
    return moment.mode is Mode.QUEUE and moment.card


def in_view(moment: Moment) -> bool:
    """At a card that waits, wherever it is looked at."""
    return moment.waits and moment.mode in (Mode.QUEUE, Mode.TEXT, Mode.FORM)


def deciding(moment: Moment) -> bool:
    """At a card that waits, to be decided alone: while some are marked, keys decide those."""
    return in_view(moment) and not moment.marked


def without_form(moment: Moment) -> bool:
    """At something that asks no questions."""
    return not moment.form


def suggesting(moment: Moment) -> bool:
    """At a card whose agent suggests what to allow from now on."""
    return moment.suggests and not moment.form and can(Verdict.ALLOW, Beside.PERMISSIONS)(moment)


def markable(moment: Moment) -> bool:
    """At a card that waits and whose keys are not taken by its form."""
    return moment.waits and moment.mode in (Mode.QUEUE, Mode.TEXT)


def with_marks(moment: Moment) -> bool:
    """While cards are marked and the queue or a request is looked at."""
    return moment.marked and moment.mode in (Mode.QUEUE, Mode.TEXT)


def answering(moment: Moment) -> bool:
    """At a card whose questions wait, in the form or still in the queue."""
    return moment.waits and moment.form and moment.mode in (Mode.QUEUE, Mode.FORM)


def in_the_form(moment: Moment) -> bool:
    """In a form that waits."""
    return moment.waits and moment.mode is Mode.FORM


def filling(moment: Moment) -> bool:
    """In a form of an MCP server that waits."""
    return moment.waits and moment.fields and moment.mode is Mode.FILL


def noting(moment: Moment) -> bool:
    """On the lines of a plan that waits."""
    return moment.waits and moment.plan and moment.mode is Mode.NOTES


def with_plan(moment: Moment) -> bool:
    """At a plan that waits, to be decided alone."""
    return moment.plan and not moment.form and deciding(moment)


def with_changes(moment: Moment) -> bool:
    """At a plan that followed a denied one."""
    return moment.plan and moment.revised and moment.mode in (Mode.QUEUE, Mode.TEXT)


def reviewing(moment: Moment) -> bool:
    """Before answers that could be sent."""
    return moment.waits and moment.mode is Mode.REVIEW


def keeping(moment: Moment) -> bool:
    """At a line that is only kept."""
    return moment.keeps and moment.mode is Mode.BOX


def turning(moment: Moment) -> bool:
    """In a list with something to change about all its rows."""
    return moment.turns and moment.mode is Mode.MENU


def taking_back(moment: Moment) -> bool:
    """While an allow is held and the request can be seen."""
    return moment.held and moment.mode in (Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW)


def away(moment: Moment) -> bool:
    """While the operator is away and the queue is looked at."""
    return moment.away and moment.mode in (Mode.QUEUE, Mode.TEXT)


def here(moment: Moment) -> bool:
    """While the operator is here and the queue is looked at."""
    return not moment.away and moment.mode in (Mode.QUEUE, Mode.TEXT)


def always(_moment: Moment) -> bool:
    """At any time."""
    return True
