"""What a person is asked a second time before a decision is given: both desks ask it.

The law of this file: a danger (▲▲) is named before it is allowed, and so is a mode of the agent in
which another verdict than an allow lets the call happen.
"""

from typing import NamedTuple

from crabhook.desk.replica import Replica
from crabhook.model.card import UNTOLD, Card, State
from crabhook.model.decision import Beside, Decision, Verdict
from crabhook.ui.cards.sentence import dangers
from crabhook.ui.cards.summary import brief, is_question

LETS = frozenset({Verdict.ALLOW, Verdict.RETRY})  # what lets a call happen in every mode


class Doubts(NamedTuple):
    """What wants a second yes, in words not yet safe.

    `mode`: how a line names the mode in which nobody is asked; empty where that is no matter.
    """

    dangers: tuple[str, ...] = ()
    mode: str = ""

    @property
    def unasked(self) -> tuple[str, ...]:
        """What the mode means for the call; nothing where it does not matter."""
        return (f"{self.mode} nobody is asked, it may run",) if self.mode else ()


def doubts(card: Card, decision: Decision, desk: Replica) -> Doubts:
    """Return what a person is asked before the decision about a card is given."""
    if card.state is not State.WAITING:
        return Doubts()
    if decision.verdict in LETS and Beside.OUTPUT not in card.choices.beside:
        changed = decision.updated_input is not None and not is_question(card.event)
        risk = desk.changed_risk(card.number, decision) if changed else card.risk
        return Doubts(dangers(risk or UNTOLD))
    if decision.verdict in card.choices.runs and not decision.halt:
        modes = (leg.event.permission_mode for leg in card.requests)
        return Doubts(dangers(card.risk), f"in mode {brief(next(filter(None, modes), ''), str)}")
    return Doubts()
