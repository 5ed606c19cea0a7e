"""The 12 events of Codex and what can be decided on each: hold against the protocol's page.

Codex reads a hook's answer strictly and fails open: an answer with one key or
value it does not take is void, and the call runs.  So a verdict is in this
table only if there is a form of it that Codex was seen to take.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag, auto

from crabhook.model.decision import Verdict
from crabhook.model.event import Event, Scope
from crabhook.model.question import QUESTION_TOOLS
from crabhook.model.request import Stance
from crabhook.platforms.interface import Held, Phase


class Way(Enum):
    """How a verdict is written."""

    SILENCE = "nothing on standard output"
    PERMISSION = "hookSpecificOutput.permissionDecision"
    DECISION = "hookSpecificOutput.decision"
    BLOCK = "top-level decision and reason"


class Also(Flag):
    """What an answer may say beside its verdict."""

    NOTHING = 0
    CONTEXT = auto()  # hookSpecificOutput.additionalContext, for the model
    HALT = auto()  # continue: false, which ends the session before its first turn
    USER = auto()  # systemMessage, for the agent's user


@dataclass(frozen=True, slots=True)
class EventRule:
    """What one event can be told.

    `verdicts`: those an operator may give, and how each is written; no opinion
    can always be given.  `also`: what the answer may carry beside the verdict.
    `closes`: what the event tells to be over; a result ends no wait, since
    Codex shows no dialog of its own while a hook is asked.
    """

    held: Held = Held.NEVER
    verdicts: Mapping[Verdict, Way] = field(default_factory=dict)
    also: Also = Also.NOTHING
    closes: Scope = Scope.NOTHING


# An allow on PreToolUse is void unless it changes the input, and approves
# nothing in either case; so it is silence.  To ask cannot be said there at all.
_CALL: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.PERMISSION}
_REQUEST: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.DECISION,
    Verdict.DENY: Way.DECISION,
    Verdict.ASK: Way.SILENCE,  # Codex's own dialog comes up then
}
_BLOCKABLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.BLOCK}
_STOP: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.KEEP_GOING: Way.BLOCK}
_START: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE}

_ALWAYS, _ASKED = Held.ALWAYS, Held.ON_REQUEST
_USER, _TELL = Also.USER, Also.USER | Also.CONTEXT
_ALL = Also.USER | Also.CONTEXT | Also.HALT
_RESULT, _AGENT_OVER, _SESSION_OVER = Scope.RESULT, Scope.AGENT, Scope.SESSION

# fmt: off
EVENTS: Mapping[str, EventRule] = {
    # tools
    "PreToolUse":        EventRule(_ALWAYS, _CALL, _TELL),
    "PermissionRequest": EventRule(_ALWAYS, _REQUEST, _USER),
    "PostToolUse":       EventRule(_ASKED, _BLOCKABLE, _TELL, _RESULT),
    # prompts and turns
    "UserPromptSubmit":  EventRule(_ASKED, _BLOCKABLE, _TELL, _AGENT_OVER),
    "Stop":              EventRule(_ASKED, _STOP, _USER, _AGENT_OVER),
    "Interrupt":         EventRule(closes=_AGENT_OVER),
    # agents
    "SubagentStart":     EventRule(),
    "SubagentStop":      EventRule(_ASKED, _STOP, _USER, _AGENT_OVER),
    # the session and its surroundings
    "SessionStart":      EventRule(_ASKED, _START, _ALL),
    "SessionEnd":        EventRule(closes=_SESSION_OVER),
    "PreCompact":        EventRule(),
    "PostCompact":       EventRule(),
}
# fmt: on

# While PermissionRequest's hook is asked no dialog is shown, but Esc ends the turn.
PHASES: Mapping[str, Phase] = {
    "PreToolUse": Phase.BEFORE,
    "PermissionRequest": Phase.ASKING,
    "PostToolUse": Phase.RAN,
    "UserPromptSubmit": Phase.PROMPT,
}

HOLDABLE = tuple(name for name, rule in EVENTS.items() if rule.held is _ASKED)

_OBSERVED = EventRule()

# Under an approval policy that asks nobody Codex names one of these modes;
# PermissionRequest never follows then.  `codex exec` has no other policy.
UNASKED_MODES = frozenset({"bypassPermissions", "dontAsk"})


def rule_of(event: Event) -> EventRule:
    """Return what the event can be told."""
    return EVENTS.get(event.name, _OBSERVED)


def held(event: Event, stance: Stance) -> Held:
    """Return when the event waits for the operator, under this stance.

    A companion leaves a PreToolUse of which no rule speaks alone:
    PermissionRequest follows where Codex would ask its own user.  Where it
    would not, a rule that denies or asks holds all the same.
    """
    if stance is Stance.COMPANION and event.name == "PreToolUse":
        return Held.BY_RULE
    return rule_of(event).held


def asks(event: Event) -> bool:
    """Whether the event is about questions to a person."""
    return event.tool is not None and event.tool.name in QUESTION_TOOLS
