"""The 33 events of Claude Code and what can be decided on each: hold against the protocol's page.

An event is *held* when it waits for the operator's decision, *observed* when
it is answered with silence at once and only shown.  An event that is not in
the table is observed.  Silence is never an allow: it leaves the agent to go
on as if crabhook were not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag, auto

from crabhook.model.decision import Verdict
from crabhook.model.event import Event, Scope
from crabhook.model.request import Stance
from crabhook.platforms.interface import Held, Phase


class Way(Enum):
    """How a verdict is written (sections 2 and 3)."""

    SILENCE = "nothing on standard output"
    PERMISSION = "hookSpecificOutput.permissionDecision"
    DECISION = "hookSpecificOutput.decision"
    BLOCK = "top-level decision and reason"
    EXIT = "exit code 2, the reason on standard error"
    ACTION = "hookSpecificOutput.action"
    RETRY = "hookSpecificOutput.retry"


class Also(Flag):
    """What an answer may say beside its verdict."""

    NOTHING = 0
    CONTEXT = auto()  # hookSpecificOutput.additionalContext, for the model
    HALT = auto()  # continue: false, which ends the turn
    USER = auto()  # systemMessage, for the agent's user


@dataclass(frozen=True, slots=True)
class EventRule:
    """What one event can be told.

    `verdicts`: those an operator may give, and how each is written; no opinion
    can always be given.  `also`: what the answer may carry beside the verdict.
    `closes`: what the event tells to be over, the only sign that a question
    was answered at the agent.  `silence_decides`: the event is decided by what
    is printed, so a hook that only watches must not be registered on it.
    """

    held: Held = Held.NEVER
    verdicts: Mapping[Verdict, Way] = field(default_factory=dict)
    also: Also = Also.NOTHING
    closes: Scope = Scope.NOTHING
    silence_decides: bool = False


_CALL: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.PERMISSION,
    Verdict.DENY: Way.PERMISSION,
    Verdict.ASK: Way.PERMISSION,
    Verdict.DEFER: Way.PERMISSION,
}
_REQUEST: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.DECISION,
    Verdict.DENY: Way.DECISION,
    Verdict.ASK: Way.SILENCE,  # its own dialog is there already, or comes next
}
_SWITCH: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.PERMISSION,
    Verdict.DENY: Way.PERMISSION,
    Verdict.ASK: Way.PERMISSION,
}
_BLOCKABLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.BLOCK}
_STOP: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.KEEP_GOING: Way.BLOCK}
_IDLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.KEEP_GOING: Way.EXIT}
_DONE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.EXIT}
_START: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE}
_DENIED: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.RETRY: Way.RETRY}
_FORM: Mapping[Verdict, Way] = {
    Verdict.ACCEPT: Way.ACTION,
    Verdict.DECLINE: Way.ACTION,
    Verdict.CANCEL: Way.ACTION,
}

_ALWAYS, _GATE, _ASKED, _NEVER = Held.ALWAYS, Held.AT_THE_GATE, Held.ON_REQUEST, Held.NEVER
_USER, _HALT = Also.USER, Also.USER | Also.HALT
_TELL, _ALL = Also.USER | Also.CONTEXT, Also.USER | Also.CONTEXT | Also.HALT
_CALL_OVER, _AGENT_OVER, _SESSION_OVER = Scope.CALL, Scope.AGENT, Scope.SESSION

# fmt: off
EVENTS: Mapping[str, EventRule] = {
    # tools
    "PreToolUse":          EventRule(_ALWAYS, _CALL, _ALL),
    "PermissionRequest":   EventRule(_ALWAYS, _REQUEST, Also.HALT),  # a denial alone, as interrupt
    "PostToolUse":         EventRule(_ASKED, _BLOCKABLE, _ALL, _CALL_OVER),
    "PostToolUseFailure":  EventRule(_ASKED, _BLOCKABLE, _TELL, _CALL_OVER),
    "PostToolBatch":       EventRule(_ASKED, _BLOCKABLE, _ALL, _AGENT_OVER),
    "PermissionDenied":    EventRule(_ASKED, _DENIED, closes=_CALL_OVER),
    # prompts and turns
    "UserPromptSubmit":    EventRule(_ASKED, _BLOCKABLE, _ALL, _AGENT_OVER),
    "UserPromptExpansion": EventRule(_ASKED, _BLOCKABLE, _ALL),
    "Stop":                EventRule(_ASKED, _STOP, _HALT, _AGENT_OVER),
    "StopFailure":         EventRule(closes=_AGENT_OVER),
    "MessageDisplay":      EventRule(),
    "Notification":        EventRule(),
    # agents and tasks
    "SubagentStart":       EventRule(_ASKED, _START, _TELL),
    "SubagentStop":        EventRule(_ASKED, _STOP, _USER, _AGENT_OVER),
    "TeammateIdle":        EventRule(_ASKED, _IDLE, _HALT),
    "TaskCreated":         EventRule(_ASKED, _BLOCKABLE),
    "TaskCompleted":       EventRule(_ASKED, _DONE),
    # forms of MCP servers
    "Elicitation":         EventRule(_GATE, _FORM),
    "ElicitationResult":   EventRule(_ASKED, _FORM),
    # the session and its surroundings
    "Setup":               EventRule(_ASKED, _START),
    "SessionStart":        EventRule(_ASKED, _START, _TELL),
    "SessionEnd":          EventRule(closes=_SESSION_OVER),
    "PreCompact":          EventRule(_ASKED, _BLOCKABLE),
    "PostCompact":         EventRule(),
    "PreModelSwitch":      EventRule(_ASKED, _SWITCH, _USER),
    "PostModelSwitch":     EventRule(_ASKED, _START, _TELL),
    "ConfigChange":        EventRule(_ASKED, _BLOCKABLE),
    "InstructionsLoaded":  EventRule(),
    "CwdChanged":          EventRule(),
    "FileChanged":         EventRule(),
    "DirectoryAdded":      EventRule(),
    "WorktreeCreate":      EventRule(silence_decides=True),
    "WorktreeRemove":      EventRule(),
}
# fmt: on

PHASES: Mapping[str, Phase] = {
    "PreToolUse": Phase.BEFORE,
    "PermissionRequest": Phase.ASKING,
    "PostToolUse": Phase.RAN,
    "PostToolUseFailure": Phase.RAN,
    "PermissionDenied": Phase.REFUSED,
    "UserPromptSubmit": Phase.PROMPT,
}

HOLDABLE = tuple(name for name, rule in EVENTS.items() if rule.held in (_GATE, _ASKED))

_OBSERVED = EventRule()

# The two tools that ask the agent's user something, and are released only by
# an allow that carries their input (section 6).
QUESTION_TOOL = "AskUserQuestion"
PLAN_TOOL = "ExitPlanMode"
ASKING_TOOLS = frozenset({QUESTION_TOOL, PLAN_TOOL})

_ENDS_OF_TURNS = frozenset({"Stop", "SubagentStop"})
_FORMS = frozenset({"Elicitation", "ElicitationResult"})

# In this mode nobody is asked, so PermissionRequest does not fire for the two
# tools and PreToolUse is the only place to answer them.
UNASKED_MODE = "dontAsk"


def rule_of(event: Event) -> EventRule:
    """Return what the event can be told."""
    return rule_named(event.name)


def rule_named(name: str) -> EventRule:
    """Return what an event of that name can be told."""
    return EVENTS.get(name, _OBSERVED)


def held(event: Event, stance: Stance) -> Held:
    """Return when the event waits for the operator, under this stance.

    A companion leaves a PreToolUse of which no rule speaks alone, since the
    PermissionRequest of the same call follows where the agent would ask; save
    for the two asking tools in the mode in which none follows.  A rule holds
    there as at the gate: in auto and bypass modes no other event comes.  A
    companion leaves forms to the agent's own dialog, which does not come up
    while a hook is asked about them.  A supervisor asks whether a turn may
    end; to it all else is as at the gate.
    """
    rule = rule_of(event)
    if stance is Stance.SUPERVISOR and event.name in _ENDS_OF_TURNS:
        return _ALWAYS
    companion = stance is Stance.COMPANION
    if companion and event.name == "PreToolUse":
        asks = event.tool is not None and event.tool.name in ASKING_TOOLS
        return _ALWAYS if asks and event.permission_mode == UNASKED_MODE else Held.BY_RULE
    if rule.held is Held.AT_THE_GATE:
        return _ASKED if companion else _ALWAYS
    return rule.held


def asks(event: Event) -> bool:
    """Whether the event asks a person something: a question, a plan or a form."""
    return event.name in _FORMS or (event.tool is not None and event.tool.name in ASKING_TOOLS)
