"""What the rules of "always allow" would have done, in words that the caller makes safe to show."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from crabhook.desk.updates import Offer, Offering
from crabhook.ui.cards.summary import summary


def tried(offering: Offering) -> str:
    """Return on what the rules were tried."""
    if offering.tried_on is None:
        return "there is no record that they could be tried on"
    calls = "call" if offering.tried_on == 1 else "calls"
    return f"tried on the last {offering.tried_on} {calls} of this kind on record"


def covered(offer: Offer) -> str:
    """Return how many past calls the rule would have covered."""
    return f"covers {offer.covered}"


def let_through(offer: Offer) -> str:
    """Return how many past denials the rule would have let through; empty for none."""
    were = "call that was" if offer.denied == 1 else "calls that were"
    return f"would have let through {offer.denied} {were} DENIED" if offer.denied else ""


def denials(offer: Offer, most: int) -> tuple[Sequence[str], str]:
    """Return what was denied and would have been let through, each once, the latest first.

    There are `most` of them at most; the text says how many more calls there are, if any.
    """
    found: Counter[str] = Counter()
    for event, times in offer.denials:
        found[summary(event, str)] += times
    shown = list(found.items())[:most]
    more = offer.denied - sum(times for _, times in shown)
    said = [what if times == 1 else f"{what}  ({times} times)" for what, times in shown]
    return said, f"… and {more} more" if more else ""


def end_of(life: timedelta | None) -> datetime | None:
    """Return when a rule ends that lives so long from now on; None for one that never does."""
    return None if life is None else (datetime.now(UTC) + life).replace(microsecond=0)
