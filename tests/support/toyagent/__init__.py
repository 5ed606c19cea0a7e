"""An agent that does not exist: all that is known of it lies in this folder.

The tests register it by its one line and lead it through the house, so that
an agent stays one folder. It is written as a new agent would be.
"""

from collections.abc import Mapping
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Beside, Choices, Decision, Reply, Verdict
from crabhook.model.event import EndScope, Event, How, ShownField
from crabhook.platforms.common import Limits, check_parts, check_reason, check_verdict, reader
from crabhook.platforms.event_table import EventRow, EventTable, Held, Patience, Phase
from crabhook.platforms.interface import Platform, Tools

QUESTION_TOOL = "toy_ask"


class Way(Enum):
    """How a verdict is written."""

    NOTHING = "nothing on standard output"
    SAYS = "a top-level says"


_CALL: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SAYS, Verdict.DENY: Way.SAYS}

EVENTS = EventTable[Way](
    {
        "ToyCall": EventRow(Held.ALWAYS, _CALL, phase=Phase.BEFORE),
        "ToyPause": EventRow(
            Held.ON_REQUEST,
            {Verdict.DENY: Way.SAYS},
            tells={"mood": ShownField("the toy's mood", How.PROSE, short="mood")},
        ),
        "ToyOver": EventRow(
            closes=EndScope.SESSION, outcome="the toy was put away", hook=Patience(5, client=2)
        ),
    }
)

_LIMITS: Limits = dict.fromkeys(
    (
        *("halt", "user_message", "suppress_output", "note", "interrupt"),
        *("permissions", "output", "content", "updated_input"),
    ),
    ((), "is a toy's and takes no more than a yes or a no"),
)


def held(event: Event, _: Stance) -> Held:
    """Return when the event waits."""
    return EVENTS[event.name].held


def asks(event: Event) -> bool:
    """Whether a person is asked something."""
    return event.calls(QUESTION_TOOL)


def choices(event: Event) -> Choices:
    """Return what the event can be told."""
    return Choices(frozenset({*EVENTS[event.name].verdicts, Verdict.PASS}), Beside.NOTHING)


def check(event: Event, decision: Decision) -> None:
    """Refuse what the event cannot carry."""
    check_verdict(event.name, decision.verdict, choices(event), EVENTS[event.name].verdicts)
    check_reason(decision)
    check_parts(event.name, decision, choices(event), _LIMITS)


def write(event: Event, decision: Decision) -> Reply:
    """Return the decision in the toy's words."""
    if EVENTS[event.name].verdicts.get(decision.verdict, Way.NOTHING) is Way.NOTHING:
        return Reply()
    return Reply({"says": decision.verdict.value, "why": decision.reason})


PLATFORM = Platform(
    name="toy",
    title="Toy Agent",
    program="toy-agent",
    package=__name__,
    events=EVENTS,
    tools=Tools(
        aliases={"toy_shell": "Bash", QUESTION_TOOL: "AskUserQuestion"},
        questions=frozenset({QUESTION_TOOL}),
    ),
    read=reader("toy", EVENTS),
    held=held,
    asks=asks,
    choices=choices,
    check=check,
    write=write,
    outcome=EVENTS.outcome,
)
