"""The 11 events of Gemini CLI (0.61), one row each, as on the protocol's page.

Other events get an empty object at once: a denial of an unknown event could mean anything.
"""

from collections.abc import Mapping
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from crabhook.model.event import EndScope, Event, How, ShownField
from crabhook.platforms import common
from crabhook.platforms.event_table import (
    ALL,
    HALT,
    SOON,
    TELL,
    EventRow,
    EventTable,
    Held,
    Phase,
)


class Way(Enum):
    """How a verdict is written."""

    NOTHING = "no decision"
    ALLOW = "decision: allow, which is no more than that nothing speaks against it"
    DENY = "decision: deny, with a reason"


# There is no "ask": it ends a headless run without a word, and no input says
# whether a run is headless.
_CALL: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.ALLOW, Verdict.DENY: Way.DENY}
_BLOCKABLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.NOTHING, Verdict.DENY: Way.DENY}
_STOP: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.NOTHING, Verdict.KEEP_GOING: Way.DENY}
_START: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.NOTHING}

_ALWAYS, _ASKED = Held.ALWAYS, Held.ON_REQUEST

# fmt: off
EVENTS = EventTable[Way]({
    # tools. Nobody can answer a call at the agent while its hook is asked, so
    # a result never speaks of a call that waits: it is that of a twin.
    "BeforeTool": EventRow(_ALWAYS, _CALL, HALT, phase=Phase.BEFORE),
    "AfterTool": EventRow(
        _ASKED, _BLOCKABLE, ALL, EndScope.RESULT, Phase.RAN, "it ran", tells=common.TELLS_RESULT
    ),
    # prompts and turns
    "BeforeAgent": EventRow(
        _ASKED, _BLOCKABLE, ALL, EndScope.AGENT, Phase.PROMPT, "new prompt",
        tells=common.TELLS_PROMPT,
    ),
    "AfterAgent": EventRow(
        _ASKED, _STOP, HALT, EndScope.AGENT, outcome="the agent's turn ended",
        tells={
            "prompt_response": ShownField("the agent's last message", How.MARKDOWN),
            **common.TELLS_PROMPT,
            "stop_hook_active": common.STOP_ACTIVE,
        },
    ),
    "BeforeModel": EventRow(
        _ASKED, _BLOCKABLE, HALT,
        hook="it fires for every request to the model, with the whole conversation in it",
    ),
    "BeforeToolSelection": EventRow(
        hook="it fires for every request to the model, and nothing there is decided"
    ),
    "AfterModel": EventRow(  # no person decides the pieces of a reply
        hook="it fires for every piece of a reply: a process each, to learn nothing"
    ),
    # the session and its surroundings
    "SessionStart": EventRow(_ASKED, _START, TELL, tells=common.TELLS_SESSION),
    "SessionEnd": EventRow(closes=EndScope.SESSION, outcome="its session ended", hook=SOON),
    "Notification": EventRow(hook=SOON),
    "PreCompress": EventRow(
        hook="it fires before every request to the model, not only when it compresses"
    ),
})
# fmt: on

# The two tools that ask the agent's user something; nothing a hook says keeps
# their dialogs from opening but a denial.
QUESTION_TOOL = "ask_user"
PLAN_TOOL = "exit_plan_mode"
ASKING_TOOLS = frozenset({QUESTION_TOOL, PLAN_TOOL})


read_event = common.reader("gemini", EVENTS)


def is_call_of(event: Event, *tools: str) -> bool:
    """Whether the event asks about a call, not yet made, of one of these tools."""
    return event.name == "BeforeTool" and event.calls(*tools)


def asks(event: Event) -> bool:
    """Whether the event asks a person something: a question or a plan."""
    return event.calls(*ASKING_TOOLS)


def held(event: Event, _: Stance) -> Held:
    """Return when the event waits for the operator, in any stance.

    Gemini's own dialog comes only after the hook's answer, so a companion cannot exist.
    """
    return EVENTS[event.name].held
