"""Who decided: an operator, a rule, a standing order, a desk where nobody sits, or nobody.

The words for people are in `crabhook.model.wording`, and nowhere is a decision made by them.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from crabhook.model.ending import EndReason


class OrderKind(StrEnum):
    """What a standing order is about."""

    HOLD = "hold"  # hold events that are otherwise only observed
    HOLD_ALL = "hold everything of"
    ALLOW_ALL = "allow everything of"
    KEEP_GOING = "keep going"
    AWAY = "away"
    HALT = "halt"  # deny every call of a session that was halted, until its next prompt


@dataclass(frozen=True, slots=True)
class Operator:
    """A person.  `id` is the server's name for them, `name` their own, `desk` where they sit.

    The id is empty where it was not kept.
    """

    id: str
    name: str
    desk: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the owner's: its text and place; empty for what protects the owner by itself."""

    ref: str


@dataclass(frozen=True, slots=True)
class StandingOrder:
    """An order an operator gave before.  `times`: how often it still applied, None for always.

    The id is 0 where it was not kept.
    """

    id: int
    kind: OrderKind
    times: int | None = None


@dataclass(frozen=True, slots=True)
class Headless:
    """A desk where nobody sits: the answer was chosen when the server began."""


@dataclass(frozen=True, slots=True)
class Nobody:
    """Nobody decided: the wait ended, for this reason."""

    why: EndReason


Actor: TypeAlias = Operator | Rule | StandingOrder | Headless | Nobody

HERE, ELSEWHERE = "this terminal", "another terminal"
OWNER = Operator("owner", "operator", HERE)
"""Whoever sits at the server's own terminal."""
UNKNOWN = Operator("", "operator", "")
"""An operator of whom no more was kept."""


def is_elsewhere(actor: Actor) -> bool:
    """Whether it was said in another terminal than the server's own."""
    return isinstance(actor, Operator) and actor.desk == ELSEWHERE
