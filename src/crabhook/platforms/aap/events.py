"""The events of AAP, one row each: a call that waits for approval, and what became of it.

The protocol names no events, so the names are ours. A request's own id is the call's id. The id
that the agent gives (`context.call_id`) is only shown: two requests with the same id are two calls,
and each needs its own decision.
"""

from collections.abc import Mapping
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from crabhook.model.event import EndScope, Event, How, ShownField
from crabhook.platforms import common
from crabhook.platforms.event_table import EventRow, EventTable, Held, Phase


class Way(Enum):
    """How a verdict is written."""

    STATUS = "the status of the request, with the note"


ASKED, SUCCEEDED, FAILED = "aap.request", "aap.succeeded", "aap.failed"

_VERDICTS: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.STATUS, Verdict.DENY: Way.STATUS}
_TELLS: Mapping[str, ShownField] = {
    "agent_reasoning": ShownField("the agent says", How.PROSE, short="says"),
    "context": ShownField("the agent's context", short="context"),
}
_NOTE: Mapping[str, ShownField] = {"note": ShownField("the agent's note", How.PROSE, short="note")}

# fmt: off
EVENTS = EventTable[Way]({
    ASKED: EventRow(Held.ALWAYS, _VERDICTS, phase=Phase.BEFORE, tells=_TELLS),
    SUCCEEDED: EventRow(
        closes=EndScope.RESULT, phase=Phase.RAN, outcome="it ran", tells=_NOTE
    ),
    FAILED: EventRow(
        closes=EndScope.RESULT, phase=Phase.RAN, outcome="it failed", tells=_NOTE
    ),
})
# fmt: on

read_event = common.reader("aap", EVENTS)


def held(event: Event, _: Stance) -> Held:
    """Return when the event waits for the operator: a request always does."""
    return EVENTS[event.name].held


def asks(_: Event) -> bool:
    """Whether the event asks a person something: AAP asks only whether a call may run."""
    return False
