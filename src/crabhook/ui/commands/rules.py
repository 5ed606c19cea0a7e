"""What the rules of "always allow" would have done, in words that the caller makes safe to show."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from crabhook.policy.propose import Offer, Offering
from crabhook.policy.rule import Rule
from crabhook.ui.cards.summary import summary


def tried(offering: Offering) -> str:
    """Return on what the rules were tried."""
    if offering.tried_on is None:
        return "there is no record that they could be tried on"
    calls = "call" if offering.tried_on == 1 else "calls"
    return f"tried on the last {offering.tried_on} {calls} of this kind on record"


def covered(offer: Offer) -> str:
    """Return how many past calls the rule would have covered."""
    return f"covers {offer.trial.covered}"


def let_through(offer: Offer) -> str:
    """Return how many past denials the rule would have let through; empty for none."""
    count = len(offer.trial.denials)
    were = "call that was" if count == 1 else "calls that were"
    return f"would have let through {count} {were} DENIED" if count else ""


def denials(offer: Offer) -> Sequence[str]:
    """Return what was denied and would have been let through, each once, the latest first."""
    found = Counter(summary(event, str) for event in offer.trial.denials)
    return [what if times == 1 else f"{what}  ({times} times)" for what, times in found.items()]


def ending(rule: Rule, life: timedelta | None) -> Rule:
    """Return the rule with another life, from now on; None for a rule that never ends."""
    end = None if life is None else (datetime.now(UTC) + life).replace(microsecond=0)
    return replace(rule, expires=end)
