"""The 33 events of Claude Code and what crabhook does with each: hold against the protocol's page.

An event is *held* when it waits for the operator's decision, *observed* when
it is answered with silence at once and only shown.  An event that is not in
the table is observed.  Silence is never an allow: it leaves the agent to go
on as if crabhook were not there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event, Scope
from crabhook.model.request import Stance


@dataclass(frozen=True, slots=True)
class EventRule:
    """What one event can be told.

    `verdicts`: those an operator may give; none means the event is observed.
    `takes_context`: whether a silent answer may carry additionalContext for
    the model.  `closes`: what the event tells to be over, the only sign that a
    question was answered at the agent.  `silence_decides`: the event is
    decided by what is printed, so a hook that only watches must not be
    registered on it.
    """

    verdicts: frozenset[Verdict] = frozenset()
    takes_context: bool = False
    closes: Scope = Scope.NOTHING
    silence_decides: bool = False


_HELD = frozenset({Verdict.ALLOW, Verdict.DENY, Verdict.ASK, Verdict.PASS})

EVENTS: Mapping[str, EventRule] = {
    # tools
    "PreToolUse": EventRule(_HELD),
    "PermissionRequest": EventRule(_HELD),
    "PostToolUse": EventRule(takes_context=True, closes=Scope.CALL),
    "PostToolUseFailure": EventRule(takes_context=True, closes=Scope.CALL),
    "PostToolBatch": EventRule(takes_context=True, closes=Scope.AGENT),
    "PermissionDenied": EventRule(closes=Scope.CALL),
    # prompts and turns
    "UserPromptSubmit": EventRule(closes=Scope.AGENT),
    "UserPromptExpansion": EventRule(),
    "Stop": EventRule(closes=Scope.AGENT),
    "StopFailure": EventRule(closes=Scope.AGENT),
    "MessageDisplay": EventRule(),
    "Notification": EventRule(),
    # agents and tasks
    "SubagentStart": EventRule(),
    "SubagentStop": EventRule(closes=Scope.AGENT),
    "TeammateIdle": EventRule(),
    "TaskCreated": EventRule(),
    "TaskCompleted": EventRule(),
    # forms of MCP servers
    "Elicitation": EventRule(),
    "ElicitationResult": EventRule(),
    # the session and its surroundings
    "Setup": EventRule(),
    "SessionStart": EventRule(),
    "SessionEnd": EventRule(closes=Scope.SESSION),
    "PreCompact": EventRule(),
    "PostCompact": EventRule(),
    "PreModelSwitch": EventRule(),
    "PostModelSwitch": EventRule(),
    "ConfigChange": EventRule(),
    "InstructionsLoaded": EventRule(),
    "CwdChanged": EventRule(),
    "FileChanged": EventRule(),
    "DirectoryAdded": EventRule(),
    "WorktreeCreate": EventRule(silence_decides=True),
    "WorktreeRemove": EventRule(),
}

_OBSERVED = EventRule()

# The two tools that ask the agent's user something, and are released only by
# an allow that carries their input (section 6).
QUESTION_TOOL = "AskUserQuestion"
PLAN_TOOL = "ExitPlanMode"
ASKING_TOOLS = frozenset({QUESTION_TOOL, PLAN_TOOL})

# In this mode nobody is asked, so PermissionRequest does not fire for the two
# tools and PreToolUse is the only place to answer them.
_UNASKED_MODE = "dontAsk"


def rule_of(event: Event) -> EventRule:
    """Return what the event can be told."""
    return EVENTS.get(event.name, _OBSERVED)


def holds(event: Event, stance: Stance) -> bool:
    """Whether the event waits for the operator.

    A companion leaves PreToolUse alone, since the PermissionRequest of the
    same call follows where the agent would ask; save for the two asking tools
    in the mode in which none follows.
    """
    if not rule_of(event).verdicts:
        return False
    if stance is Stance.COMPANION and event.name == "PreToolUse":
        asks = event.tool is not None and event.tool.name in ASKING_TOOLS
        return asks and event.permission_mode == _UNASKED_MODE
    return True


def check(event: Event, decision: Decision) -> None:
    """Raise DecisionError, saying why, if the event cannot carry the decision."""
    if decision.verdict is Verdict.PASS:
        return
    if decision.verdict not in rule_of(event).verdicts:
        raise DecisionError(f"{event.name} cannot be answered with {decision.verdict}")
    if decision.verdict is Verdict.DENY and not decision.reason:
        raise DecisionError("a denial needs a reason: the model reads it")
    if decision.updated_input is not None and decision.verdict is not Verdict.ALLOW:
        raise DecisionError(f"only an allow carries a changed input, not {decision.verdict}")
