"""The 11 events of Gemini CLI (0.61), one row each, as on the protocol's page.

Other events get an empty object at once: a denial of an unknown event could mean anything.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Beside, Choices, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import EndScope, Event, How, ShownField
from crabhook.platforms import common
from crabhook.platforms.event_table import (
    ALL,
    HALT,
    TELL,
    Also,
    EventRow,
    EventTable,
    Held,
    Patience,
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

# A server that answers late must not hold the agent up for what can only be shown to it.
_SOON = Patience(timeout=10, client=5)

# fmt: off
EVENTS = EventTable[Way]({
    # tools.  Nobody can answer a call at the agent while its hook is asked, so
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
    "SessionEnd": EventRow(closes=EndScope.SESSION, outcome="its session ended", hook=_SOON),
    "Notification": EventRow(hook=_SOON),
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


def choices(event: Event) -> Choices:
    """Return the verdicts the event takes, and what may go with them.

    No input tells the mode, so no opinion may always let a call run, as it does in yolo.
    """
    row = EVENTS[event.name]
    is_call = event.name == "BeforeTool" and event.tool is not None
    runs = common.runs(event, row, (), QUESTION_TOOL)
    if is_call and not asks(event):
        runs |= common.NO_OPINION
    return common.offering(
        row,
        (Beside.NOTE, takes_note(event)),
        (Beside.INPUT, is_call and not is_call_of(event, PLAN_TOOL)),
        (Beside.RULE, is_call and not asks(event)),
        (Beside.OUTPUT, event.name == "AfterTool"),
        (Beside.INTERRUPT, Also.HALT in row.also and Verdict.DENY in row.verdicts),
        (Beside.SUPPRESS, Also.USER in row.also),
        runs=runs,
    )


def takes_note(event: Event) -> bool:
    """Whether a note reaches the model: on this event, or with the result of its call.

    Questions answered here have no result, and their answers have notes.
    """
    on_result = event.name == "BeforeTool" and not is_call_of(event, QUESTION_TOOL)
    return Also.CONTEXT in EVENTS[event.name].also or on_result


_OF_CALLS = (
    "Gemini CLI asks its own user as well after an allow, unless it runs with "
    "--approval-mode yolo. There a call without an opinion simply runs"
)
_OF_QUESTIONS = (
    "Gemini CLI takes no answers from a hook: yours go to the model in a denial that states "
    "them. An allow without answers opens the agent's own dialog"
)
_OF_PLANS = (
    "an allow opens Gemini CLI's own dialog, and only there a plan is approved. "
    "A denial takes your changes to the model"
)
_OF_RESULTS = "another output reaches the model as the tool's error, which is all Gemini CLI takes"


def limits(event: Event) -> Sequence[str]:
    """Return what a decision on this event will not bring about, a sentence each."""
    if event.name == "AfterTool":
        return (_OF_RESULTS,)
    if event.name != "BeforeTool":
        return ()
    name = event.tool.name if event.tool else ""
    return ({QUESTION_TOOL: _OF_QUESTIONS, PLAN_TOOL: _OF_PLANS}.get(name, _OF_CALLS),)


_LIMITS: common.Limits = common.LIMITS | {
    "halt": (common.ANY, "stops no agent"),
    "permissions": (
        common.ALLOWS,
        "takes no permissions: Gemini CLI keeps none that a hook gives it",
    ),
    "content": ((), "takes no form's values"),
}


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    common.check(event.name, EVENTS[event.name], decision, choices(event), _LIMITS)
    updated = decision.updated_input
    if updated is not None and is_call_of(event, QUESTION_TOOL) and "questions" not in updated:
        raise DecisionError("the questions must be sent back with their answers")
