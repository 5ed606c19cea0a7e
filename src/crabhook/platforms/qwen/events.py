"""The 22 events of Qwen Code (0.24.4), one row each, as on the protocol's page.

Its words are Claude Code's, but PermissionRequest comes before PreToolUse, and only there an input
can be changed. It fails open: a hook that ends badly lets the call run.
"""

from collections.abc import Mapping
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from crabhook.model.event import EndScope, Event, How, ShownField
from crabhook.platforms import common
from crabhook.platforms.event_table import SOON, Also, EventRow, EventTable, Held, Phase


class Way(Enum):
    """How a verdict is written."""

    SILENCE = "nothing on standard output"
    PERMISSION = "hookSpecificOutput.permissionDecision"
    DECISION = "hookSpecificOutput.decision"
    BLOCK = "top-level decision and reason"


# To ask cannot be said on PreToolUse: a run without a screen takes it for a denial, and no input
# says whether there is a screen.
_CALL: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.PERMISSION}
_REQUEST: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.DECISION,
    Verdict.DENY: Way.DECISION,
    Verdict.ASK: Way.SILENCE,  # its own dialog comes next
}
_BLOCKABLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.BLOCK}
_STOP: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.KEEP_GOING: Way.BLOCK}
# A result can get a note. A block of it was seen to be ignored.
_NOTED: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE}

_ALWAYS, _ASKED = Held.ALWAYS, Held.ON_REQUEST
_RESULT, _AGENT_OVER, _SESSION_OVER = EndScope.RESULT, EndScope.AGENT, EndScope.SESSION

_TELLS_STOP: Mapping[str, ShownField] = {
    **common.TELLS_STOP,
    "crons": ShownField("scheduled wake-ups", How.SEVERAL, short="crons"),
    "context_usage": ShownField("share of the context in use", short="context in use"),
    "context_limit": ShownField("tokens that the context holds", short="context holds"),
    "input_tokens": ShownField("tokens sent", short="tokens sent"),
}
_TELLS_PROMPT: Mapping[str, ShownField] = {
    **common.TELLS_PROMPT,
    "submitted_prompt": ShownField("as its user sent it", How.PROSE, short="as sent"),
}

# A result ends no wait: while a hook is asked Qwen Code shows no dialog, so nobody can answer
# there. Calls of one message go one after the other, with their hooks.
# fmt: off
EVENTS = EventTable[Way]({
    # tools
    "PermissionRequest": EventRow(_ALWAYS, _REQUEST, phase=Phase.ASKING),
    "PreToolUse": EventRow(_ALWAYS, _CALL, phase=Phase.BEFORE),
    "PostToolUse": EventRow(
        _ASKED, _NOTED, Also.CONTEXT, _RESULT, Phase.RAN, "it ran",
        tells={**common.TELLS_RESULT, **common.TELLS_TIME},
    ),
    "PostToolUseFailure": EventRow(  # a command that ends with another code than 0 comes here
        _ASKED, _NOTED, Also.CONTEXT, _RESULT, Phase.RAN, "it ran and failed",
        tells=common.TELLS_FAILURE,
    ),
    "PostToolBatch": EventRow(
        hook="each call of a batch has events of its own: a process more, to learn nothing"
    ),
    "PermissionDenied": EventRow(
        closes=_RESULT, phase=Phase.REFUSED, outcome="the agent's own classifier denied it",
        hook=SOON,
    ),
    # prompts and turns
    "UserPromptSubmit": EventRow(
        _ASKED, _BLOCKABLE, Also.CONTEXT, _AGENT_OVER, Phase.PROMPT, "new prompt",
        tells=_TELLS_PROMPT,
    ),
    "UserPromptExpansion": EventRow(hook=SOON),
    "Stop": EventRow(
        _ASKED, _STOP, closes=_AGENT_OVER, outcome="the agent's turn ended",
        tells=_TELLS_STOP,
    ),
    "StopFailure": EventRow(closes=_AGENT_OVER, outcome="the agent's turn broke off", hook=SOON),
    "MessageDisplay": EventRow(
        hook="it fires for every piece of a message: a process each, to learn nothing"
    ),
    "Notification": EventRow(hook=SOON),
    # agents and lists of things to do
    "SubagentStart": EventRow(hook=SOON, tells=common.TELLS_AGENT),
    "SubagentStop": EventRow(
        closes=_AGENT_OVER, outcome="the subagent ended", hook=SOON,
        tells={**common.TELLS_AGENT, **common.TELLS_STOP},
    ),
    "TodoCreated": EventRow(hook=SOON),
    "TodoCompleted": EventRow(hook=SOON),
    # the session and its surroundings
    "SessionStart": EventRow(_ASKED, _NOTED, Also.CONTEXT, tells=common.TELLS_SESSION),
    "SessionEnd": EventRow(closes=_SESSION_OVER, outcome="its session ended", hook=SOON),
    "SessionDelete": EventRow(hook=SOON),
    "PreCompact": EventRow(hook=SOON, tells=common.TELLS_COMPACTING),
    "PostCompact": EventRow(hook=SOON),
    "InstructionsLoaded": EventRow(hook=SOON),
})
# fmt: on

# The two tools that need the person at the agent: an allow opens their dialog all the same.
QUESTION_TOOL = "ask_user_question"
PLAN_TOOL = "exit_plan_mode"
ASKING_TOOLS = frozenset({QUESTION_TOOL, PLAN_TOOL})

read_event = common.reader("qwen", EVENTS)


def held(event: Event, stance: Stance) -> Held:
    """Return when the event waits for the operator, under this stance.

    Of a companion's PreToolUse only a rule speaks, since PermissionRequest came before where Qwen
    Code asks; so it did for the two asking tools in any stance. An empty prompt is no person's: it
    follows each batch of results.
    """
    row = EVENTS[event.name]
    if row.phase is Phase.BEFORE and (stance is Stance.COMPANION or asks(event)):
        return Held.BY_RULE
    if row.phase is Phase.PROMPT and not by_person(event):
        return Held.NEVER
    return row.held


def by_person(event: Event) -> bool:
    """Whether a person wrote a prompt: Qwen Code sends an empty prompt after each batch."""
    return bool(event.text("prompt"))


def asks(event: Event) -> bool:
    """Whether the event is about a question or a plan, which need a person."""
    return event.calls(*ASKING_TOOLS)
