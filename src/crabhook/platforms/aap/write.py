"""What an AAP request can be told, and the decision in the protocol's words.

The protocol takes no changed arguments, and has no dialog of its own to hand a call back to. No
opinion is `cancelled`: the call does not run. The reply bears the whole request, since the next
server has nothing else of it.
"""

from collections.abc import Mapping

from crabhook.model.decision import PASS_ALONE, Beside, Choices, Decision, Reply, Verdict
from crabhook.model.event import Event
from crabhook.platforms import common
from crabhook.platforms.aap.events import ASKED, EVENTS

APPROVED, DENIED, CANCELLED = "approved", "denied", "cancelled"
_STATUS: Mapping[Verdict, str] = {Verdict.ALLOW: APPROVED, Verdict.DENY: DENIED}


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them."""
    row = EVENTS[event.name]
    return common.offering(row, (Beside.RULE, True)) if row.verdicts else PASS_ALONE


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    row = EVENTS[event.name]
    common.check(f"AAP's {event.name}", row, decision, choices(event), common.LIMITS)


_STAYS = "The arguments cannot be changed here: deny it, saying what to do instead."
_NOT_RUN = "Without an opinion the call does not run."


def limits(event: Event) -> tuple[str, ...]:
    """Return what a decision on the event will not bring about, a sentence each."""
    return (_STAYS, _NOT_RUN) if event.name == ASKED else ()


def write(event: Event, decision: Decision) -> Reply:
    """Return the decision about a request, with the request and the machine that it came from."""
    if event.name != ASKED:
        return Reply()
    status = _STATUS.get(decision.verdict, CANCELLED)
    note = decision.reason.strip()
    words = {"note": note} if note else {}
    return Reply(
        {"status": status, **words, "machine": event.machine, "request": dict(event.fields)}
    )
