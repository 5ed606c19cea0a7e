"""What the dialects' checks have in common: a part of a decision that an event cannot carry.

Each dialect has a table of its own: for every part the verdicts it can go
with, and what is said where it cannot.
"""

from collections.abc import Collection, Mapping
from typing import TypeAlias

from crabhook.model.choices import Beside, Choices
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError

Limits: TypeAlias = Mapping[str, tuple[Collection[Verdict], str]]
"""A part of a Decision -> the verdicts it goes with, and the words that refuse it elsewhere."""

ANY = frozenset(Verdict)
ALLOWS = frozenset({Verdict.ALLOW})
DENIES = frozenset({Verdict.DENY})
NEEDS_REASON = frozenset({Verdict.DENY, Verdict.KEEP_GOING})

PARTS: Mapping[str, Beside] = {
    "halt": Beside.HALT,
    "user_message": Beside.MESSAGE,
    "suppress_output": Beside.SUPPRESS,
    "note": Beside.NOTE,
    "interrupt": Beside.INTERRUPT,
    "permissions": Beside.PERMISSIONS,
    "output": Beside.OUTPUT,
    "content": Beside.NOTHING,  # a form's values go with the verdict itself
    "updated_input": Beside.INPUT,
}
"""What an event has to offer for each part to be carried."""

_BARE = Decision(Verdict.PASS)


def check_verdict(
    who: str, verdict: Verdict, offered: Choices, in_order: Collection[Verdict]
) -> None:
    """Raise DecisionError for a verdict that is not offered; `in_order`: those to name instead."""
    if verdict not in offered.verdicts:
        can = ", ".join([*in_order, Verdict.PASS])
        raise DecisionError(f"{who} cannot be answered with {verdict}; it can with: {can}")


def check_reason(decision: Decision, beside: str = "") -> None:
    """Raise DecisionError for a verdict that comes without the reason it needs."""
    if decision.verdict in NEEDS_REASON and not decision.reason.strip():
        denied = decision.verdict is Verdict.DENY
        what = "a denial needs a reason" if denied else "say how to go on"
        raise DecisionError(f"{what}: the model reads it{beside}")


def check_parts(who: str, decision: Decision, offered: Choices, limits: Limits) -> None:
    """Raise DecisionError for the first part of the decision that would be lost."""
    for part, beside in PARTS.items():
        if getattr(decision, part) == getattr(_BARE, part):
            continue
        verdicts, what = limits[part]
        if decision.verdict not in verdicts or beside not in offered.beside:
            raise DecisionError(f"{who}, answered with {decision.verdict}, {what}")
