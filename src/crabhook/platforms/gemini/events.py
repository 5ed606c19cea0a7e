"""The 11 events of Gemini CLI and what can be decided on each: hold against the protocol's page.

Gemini CLI 0.61.  An event is *held* when it waits for the operator's decision,
*observed* when it gets an empty object at once and is only shown.  An event
that is not in the table is observed: a denial there could mean anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag, auto

from crabhook.model.decision import Verdict
from crabhook.model.event import Event, Scope
from crabhook.platforms.interface import Held, Phase


class Way(Enum):
    """How a verdict is written."""

    NOTHING = "no decision"
    ALLOW = "decision: allow, which is no more than that nothing speaks against it"
    DENY = "decision: deny, with a reason"


class Also(Flag):
    """What an answer may say beside its verdict."""

    NOTHING = 0
    CONTEXT = auto()  # hookSpecificOutput.additionalContext, for the model
    HALT = auto()  # continue: false, which ends the agent's loop
    USER = auto()  # systemMessage, for the agent's user


@dataclass(frozen=True, slots=True)
class EventRule:
    """What one event can be told.

    `verdicts`: those an operator may give, and how each is written; no opinion
    can always be given.  `also`: what the answer may carry beside the verdict.
    `closes`: what the event tells to be over.
    """

    held: Held = Held.NEVER
    verdicts: Mapping[Verdict, Way] = field(default_factory=dict)
    also: Also = Also.NOTHING
    closes: Scope = Scope.NOTHING


# There is no "ask": it ends a headless run without a word, and no input says
# whether a run is headless.
_CALL: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.ALLOW, Verdict.DENY: Way.DENY}
_BLOCKABLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.NOTHING, Verdict.DENY: Way.DENY}
_STOP: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.NOTHING, Verdict.KEEP_GOING: Way.DENY}
_START: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.NOTHING}

_ALWAYS, _ASKED = Held.ALWAYS, Held.ON_REQUEST
_TELL, _HALT = Also.USER | Also.CONTEXT, Also.USER | Also.HALT
_ALL = _TELL | _HALT

# fmt: off
EVENTS: Mapping[str, EventRule] = {
    # tools.  Nobody can answer a call at the agent while its hook is asked, so
    # a result never speaks of a call that waits: it is that of a twin.
    "BeforeTool":          EventRule(_ALWAYS, _CALL, _HALT),
    "AfterTool":           EventRule(_ASKED, _BLOCKABLE, _ALL, Scope.RESULT),
    # prompts and turns
    "BeforeAgent":         EventRule(_ASKED, _BLOCKABLE, _ALL, Scope.AGENT),
    "AfterAgent":          EventRule(_ASKED, _STOP, _HALT, Scope.AGENT),
    "BeforeModel":         EventRule(_ASKED, _BLOCKABLE, _HALT),
    "BeforeToolSelection": EventRule(),
    "AfterModel":          EventRule(),  # once for each piece of a reply: no person decides those
    # the session and its surroundings
    "SessionStart":        EventRule(_ASKED, _START, _TELL),
    "SessionEnd":          EventRule(closes=Scope.SESSION),
    "Notification":        EventRule(),
    "PreCompress":         EventRule(),
}
# fmt: on

PHASES: Mapping[str, Phase] = {
    "BeforeTool": Phase.BEFORE,
    "AfterTool": Phase.RAN,
    "BeforeAgent": Phase.PROMPT,
}

HOLDABLE = tuple(name for name, rule in EVENTS.items() if rule.held is _ASKED)

_OBSERVED = EventRule()

# The two tools that ask the agent's user something; nothing a hook says keeps
# their dialogs from opening but a denial.
QUESTION_TOOL = "ask_user"
PLAN_TOOL = "exit_plan_mode"
ASKING_TOOLS = frozenset({QUESTION_TOOL, PLAN_TOOL})


def rule_of(event: Event) -> EventRule:
    """Return what the event can be told."""
    return EVENTS.get(event.name, _OBSERVED)


def is_call_of(event: Event, *tools: str) -> bool:
    """Whether the event asks about a call, not yet made, of one of these tools."""
    return event.name == "BeforeTool" and event.tool is not None and event.tool.name in tools


def asks(event: Event) -> bool:
    """Whether the event asks a person something: a question or a plan."""
    return event.tool is not None and event.tool.name in ASKING_TOOLS
