"""What "always allow" offers for one call: rules from narrow to wide, or why there is none."""

from dataclasses import dataclass

from crabhook.model.event import Event
from crabhook.policy.call import read_call
from crabhook.policy.never import is_never_remembered
from crabhook.policy.propose import Proposal, Trial
from crabhook.policy.rule import Rule
from crabhook.policy.surroundings import Surroundings
from crabhook.policy.tools import Kind


@dataclass(frozen=True, slots=True)
class Offer:
    """A rule that the operator may take, and what it would have done to calls of the past."""

    proposal: Proposal
    trial: Trial


@dataclass(frozen=True, slots=True)
class Offering:
    """All that is offered for one call, the narrowest first.

    `tried_on`: on how many past calls of its kind, the latest; None where
    there is no record of any.  `why`: why nothing is offered, in words that
    may hold an agent's.
    """

    offers: tuple[Offer, ...] = ()
    tried_on: int | None = None
    why: str = ""


def in_words(rule: Rule) -> str:
    """Return a rule with where it holds and until when; what an agent named may be in it."""
    scope = [
        f"{name} {', '.join(values)}"
        for name, values in (("session", rule.scope.session), ("project", rule.scope.project))
        if values
    ]
    where = f"in {' and '.join(scope)}" if scope else "everywhere"
    return f"{rule} · {where} · {until(rule)}"


def until(rule: Rule) -> str:
    """Return when a rule ends, as a day of the operator's own calendar."""
    return f"until {rule.expires.astimezone():%Y-%m-%d}" if rule.expires else "for ever"


def why_none(event: Event, surroundings: Surroundings) -> str:
    """Return why nothing is proposed for the call, where nothing protected is in its way."""
    call = read_call(event, surroundings)
    if call is None:
        return f"{event.name} is about no call of a tool, and rules speak of calls"
    if is_never_remembered(call):
        return "no rule is made of such a command: it is looked at each time"
    if call.kind is Kind.ASKING:
        return "no rule answers it: only a person does"
    if call.troubles:
        return f"no rule can allow it: {call.troubles[0]}"
    return "no rule can be written that speaks of just this"
