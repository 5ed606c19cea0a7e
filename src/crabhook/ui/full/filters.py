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
class KeyContext:
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


When: TypeAlias = Callable[[KeyContext], bool]


def at(*modes: Mode) -> When:
    """Return the condition that keys go to one of these."""
    return lambda context: context.mode in modes


def both(*whens: When) -> When:
    """Return the condition that all of these are met."""
    return lambda context: all(when(context) for when in whens)


def no(when: When) -> When:
    """Return the condition that this one is not met."""
    return lambda context: not when(context)


def can(verdict: Verdict, beside: Beside = Beside.NOTHING) -> When:
    """Return the condition that the card can be told this, with that beside it."""
    return lambda context: (
        deciding(context)
        and verdict in context.choices.verdicts
        and beside in context.choices.beside
    )


def can_carry(beside: Beside) -> When:
    """Return the condition that this can go with some verdict about the card."""
    return lambda context: deciding(context) and beside in context.choices.beside


def with_a_card(context: KeyContext) -> bool:
    """In the queue, with a card to go into."""
    return context.mode is Mode.QUEUE and context.card


def in_view(context: KeyContext) -> bool:
    """At a card that waits, wherever it is looked at."""
    return context.waits and context.mode in (Mode.QUEUE, Mode.TEXT, Mode.FORM)


def deciding(context: KeyContext) -> bool:
    """At a card that waits, to be decided alone: while some are marked, keys decide those."""
    return in_view(context) and not context.marked


def without_form(context: KeyContext) -> bool:
    """At something that asks no questions."""
    return not context.form


def suggesting(context: KeyContext) -> bool:
    """At a card whose agent suggests what to allow from now on."""
    return context.suggests and not context.form and can(Verdict.ALLOW, Beside.PERMISSIONS)(context)


def markable(context: KeyContext) -> bool:
    """At a card that waits and whose keys are not taken by its form."""
    return context.waits and context.mode in (Mode.QUEUE, Mode.TEXT)


def with_marks(context: KeyContext) -> bool:
    """While cards are marked and the queue or a request is looked at."""
    return context.marked and context.mode in (Mode.QUEUE, Mode.TEXT)


def answering(context: KeyContext) -> bool:
    """At a card whose questions wait, in the form or still in the queue."""
    return context.waits and context.form and context.mode in (Mode.QUEUE, Mode.FORM)


def in_the_form(context: KeyContext) -> bool:
    """In a form that waits."""
    return context.waits and context.mode is Mode.FORM


def filling(context: KeyContext) -> bool:
    """In a form of an MCP server that waits."""
    return context.waits and context.fields and context.mode is Mode.FILL


def noting(context: KeyContext) -> bool:
    """On the lines of a plan that waits."""
    return context.waits and context.plan and context.mode is Mode.NOTES


def with_plan(context: KeyContext) -> bool:
    """At a plan that waits, to be decided alone."""
    return context.plan and not context.form and deciding(context)


def with_changes(context: KeyContext) -> bool:
    """At a plan that followed a denied one."""
    return context.plan and context.revised and context.mode in (Mode.QUEUE, Mode.TEXT)


def reviewing(context: KeyContext) -> bool:
    """Before answers that could be sent."""
    return context.waits and context.mode is Mode.REVIEW


def keeping(context: KeyContext) -> bool:
    """At a line that is only kept."""
    return context.keeps and context.mode is Mode.BOX


def turning(context: KeyContext) -> bool:
    """In a list with something to change about all its rows."""
    return context.turns and context.mode is Mode.MENU


def taking_back(context: KeyContext) -> bool:
    """While an allow is held and the request can be seen."""
    return context.held and context.mode in (Mode.QUEUE, Mode.TEXT, Mode.FORM, Mode.REVIEW)


def away(context: KeyContext) -> bool:
    """While the operator is away and the queue is looked at."""
    return context.away and context.mode in (Mode.QUEUE, Mode.TEXT)


def here(context: KeyContext) -> bool:
    """While the operator is here and the queue is looked at."""
    return not context.away and context.mode in (Mode.QUEUE, Mode.TEXT)


def always(_context: KeyContext) -> bool:
    """At any time."""
    return True
