"""The 34 events of Claude Code (2.1.332), one row each, as on the protocol's page.

An event that does not wait gets silence at once. Silence is never an allow: the agent goes on as if
crabhook were not there.
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
    Also,
    EventRow,
    EventTable,
    Held,
    Patience,
    Phase,
)


class Way(Enum):
    """How a verdict is written (sections 2 and 3)."""

    SILENCE = "nothing on standard output"
    PERMISSION = "hookSpecificOutput.permissionDecision"
    DECISION = "hookSpecificOutput.decision"
    BLOCK = "top-level decision and reason"
    EXIT = "exit code 2, the reason on standard error"
    ACTION = "hookSpecificOutput.action"
    RETRY = "hookSpecificOutput.retry"


_SWITCH: Mapping[Verdict, Way] = dict.fromkeys(
    (Verdict.ALLOW, Verdict.DENY, Verdict.ASK), Way.PERMISSION
)
_CALL: Mapping[Verdict, Way] = {**_SWITCH, Verdict.DEFER: Way.PERMISSION}
_REQUEST: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.DECISION,
    Verdict.DENY: Way.DECISION,
    Verdict.ASK: Way.SILENCE,  # its own dialog is there already, or comes next
}
# A line of a skill cannot wait for a dialog: Claude Code takes an ask for a denial.
_LINE: Mapping[Verdict, Way] = dict.fromkeys((Verdict.ALLOW, Verdict.DENY), Way.PERMISSION)
_BLOCKABLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.BLOCK}
_STOP: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.KEEP_GOING: Way.BLOCK}
_IDLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.KEEP_GOING: Way.EXIT}
_DONE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.EXIT}
_START: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE}
_DENIED: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.RETRY: Way.RETRY}
_FORM: Mapping[Verdict, Way] = dict.fromkeys(
    (Verdict.ACCEPT, Verdict.DECLINE, Verdict.CANCEL), Way.ACTION
)

_ALWAYS, _GATE, _ASKED = Held.ALWAYS, Held.AT_THE_GATE, Held.ON_REQUEST
_CALL_OVER, _AGENT_OVER, _SESSION_OVER = EndScope.CALL, EndScope.AGENT, EndScope.SESSION

# All SessionEnd hooks share 1.5 s, and the longest timeout written in settings
# raises that for everybody's: exactly 1.5 leaves the budget as it is.
_AT_THE_DOOR = Patience(timeout=1.5, client=1)

_TASK: Mapping[str, ShownField] = {
    "task_subject": ShownField("task", How.PROSE),
    "task_description": ShownField("description", How.PROSE),
    "teammate_name": ShownField("teammate"),
    "task_id": ShownField("task id"),
}
_TELLS_SWITCH: Mapping[str, ShownField] = {
    "from_model": ShownField("from", How.MODEL),
    "to_model": ShownField("to", How.MODEL),
    "requested_model": ShownField("asked for"),
    "source": ShownField("asked by"),
    "estimated_cache_write_usd": ShownField("sending it the conversation again costs", How.MONEY),
    "context_tokens": ShownField("tokens in the conversation"),
    "prompt_cache_warm": ShownField(
        "prompt cache warm",
        How.FLAG,
        yes="the prompt cache is warm: it is lost",
        no="the prompt cache is cold already",
    ),
}

_SERVED: Mapping[str, ShownField] = {
    "served_call": ShownField(
        "served for",
        How.FLAG,
        yes="another session makes this call, and this machine serves it",
        short="served for another session",
    ),
    "caller_session_id": ShownField(
        "the session that makes this call", short="the calling session"
    ),
}
"""What tells that a call is not of this session, on every event of a call."""

# In the companion's stance Claude Code asks its own user and the operator may
# be faster: that is PermissionRequest. PreToolUse comes before every call, and
# in auto and bypass modes nothing else does, so the rules are asked there; a
# call of which none speaks passes at once. The gate holds each call at
# PreToolUse, before Claude Code's own rules see it. One of those may still
# want to ask about a call that was allowed there: then its PermissionRequest
# is told the same, and nobody is asked twice.
# fmt: off
EVENTS = EventTable[Way]({
    # tools
    "PreToolUse": EventRow(_ALWAYS, _CALL, ALL, phase=Phase.BEFORE, tells=_SERVED),
    "PermissionRequest": EventRow(  # halted by a denial alone, as interrupt
        _ALWAYS, _REQUEST, Also.HALT, phase=Phase.ASKING, tells=_SERVED
    ),
    "PreSkillShellCommand": EventRow(
        _ALWAYS, _LINE, Also.HALT, phase=Phase.PART,
        tells={
            "command_name": ShownField("part of skill", short="part of skill"),
            "command_source": ShownField("it comes from", short="it comes from"),
            "invoked_by": ShownField("started by", short="started by"),
            **_SERVED,
        },
    ),
    "PostToolUse": EventRow(
        _ASKED, _BLOCKABLE, ALL, _CALL_OVER, Phase.RAN, "it ran",
        tells={**common.TELLS_RESULT, **common.TELLS_TIME},
    ),
    "PostToolUseFailure": EventRow(
        _ASKED, _BLOCKABLE, TELL, _CALL_OVER, Phase.RAN, "it ran and failed",
        tells=common.TELLS_FAILURE,
    ),
    "PostToolBatch": EventRow(
        _ASKED, _BLOCKABLE, ALL, _AGENT_OVER, outcome="the agent went on",
        tells={"tool_calls": ShownField("calls that were made", How.SEVERAL)},
    ),
    "PermissionDenied": EventRow(
        _ASKED, _DENIED, closes=_CALL_OVER, phase=Phase.REFUSED,
        outcome="the agent's own classifier denied it",
        tells={"reason": ShownField("the agent denied it, because", How.PROSE)},
    ),
    # prompts and turns
    "UserPromptSubmit": EventRow(
        _ASKED, _BLOCKABLE, ALL, _AGENT_OVER, Phase.PROMPT, "new prompt",
        tells=common.TELLS_PROMPT,
    ),
    "UserPromptExpansion": EventRow(
        _ASKED, _BLOCKABLE, ALL,
        tells={
            **common.TELLS_PROMPT,
            "command_name": ShownField("command"),
            "command_args": ShownField("its arguments"),
            "command_source": ShownField("it comes from"),
            "expansion_type": ShownField("kind"),
        },
    ),
    "Stop": EventRow(
        _ASKED, _STOP, HALT, _AGENT_OVER, outcome="the agent's turn ended", tells=common.TELLS_STOP
    ),
    "StopFailure": EventRow(closes=_AGENT_OVER, outcome="the agent's turn broke off", hook=SOON),
    "MessageDisplay": EventRow(
        hook="it fires for every piece of a message: a process each, to learn nothing"
    ),
    "Notification": EventRow(hook=SOON),
    # agents and tasks
    "SubagentStart": EventRow(_ASKED, _START, TELL, tells=common.TELLS_AGENT),
    "SubagentStop": EventRow(
        _ASKED, _STOP, Also.USER, _AGENT_OVER, outcome="the subagent ended",
        tells={**common.TELLS_AGENT, **common.TELLS_STOP},
    ),
    "TeammateIdle": EventRow(
        _ASKED, _IDLE, HALT,
        tells={"teammate_name": ShownField("teammate"), "team_name": ShownField("team")},
    ),
    "TaskCreated": EventRow(_ASKED, _BLOCKABLE, tells=_TASK),
    "TaskCompleted": EventRow(_ASKED, _DONE, tells=_TASK),
    # forms of MCP servers
    "Elicitation": EventRow(_GATE, _FORM),
    "ElicitationResult": EventRow(_ASKED, _FORM),
    # the session and its surroundings
    "Setup": EventRow(_ASKED, _START, tells={"trigger": ShownField("set up for")}),
    "SessionStart": EventRow(_ASKED, _START, TELL, tells=common.TELLS_SESSION),
    "SessionEnd": EventRow(closes=_SESSION_OVER, outcome="its session ended", hook=_AT_THE_DOOR),
    "PreCompact": EventRow(_ASKED, _BLOCKABLE, tells=common.TELLS_COMPACTING),
    "PostCompact": EventRow(hook=SOON),
    "PreModelSwitch": EventRow(_ASKED, _SWITCH, Also.USER, tells=_TELLS_SWITCH),
    "PostModelSwitch": EventRow(_ASKED, _START, TELL, tells=_TELLS_SWITCH),
    "ConfigChange": EventRow(
        _ASKED, _BLOCKABLE,
        tells={"source": ShownField("settings that changed"), "file_path": ShownField("file")},
    ),
    "InstructionsLoaded": EventRow(hook=SOON),
    "CwdChanged": EventRow(hook=SOON),
    "FileChanged": EventRow(hook=SOON),
    "DirectoryAdded": EventRow(hook=SOON),
    "WorktreeCreate": EventRow(
        hook="its hook must print the worktree's path: to say nothing is to fail it",
        silence_decides=True,
    ),
    "WorktreeRemove": EventRow(hook=SOON),
})
# fmt: on

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
PLAN_MODE = "plan"

read_event = common.reader("claude", EVENTS)


def held(event: Event, stance: Stance) -> Held:
    """Return when the event waits for the operator, under this stance.

    A companion's PreToolUse asks only the rules, since PermissionRequest follows where the agent
    would ask; in the mode without it, the two asking tools wait. A line of a skill asks the rules,
    too: Claude Code asks nobody about one, and runs those that its own rules cover. A companion
    leaves forms to the
    agent's own dialog, which a waiting hook would block. What its own check refused in a
    companion's session becomes a card for which no hook waits: its agent goes on meanwhile. A gate
    decides above that check, so there the event is only observed. A supervisor adds the end of a
    turn to the gate.
    """
    row = EVENTS[event.name]
    if stance is Stance.SUPERVISOR and event.name in _ENDS_OF_TURNS:
        return _ALWAYS
    companion = stance is Stance.COMPANION
    if companion and row.phase in (Phase.BEFORE, Phase.PART):
        unasked = event.permission_mode == UNASKED_MODE
        return _ALWAYS if unasked and event.calls(*ASKING_TOOLS) else Held.BY_RULE
    if row.held is Held.AT_THE_GATE:
        return _ASKED if companion else _ALWAYS
    if companion and row.phase is Phase.REFUSED:
        return Held.AFTERWARDS
    return row.held


def by_person(event: Event) -> bool:
    """Whether a person wrote a prompt: Claude Code tells its agent so of a subagent's end, too."""
    return not event.text("prompt").startswith("<task-notification>")


def asks(event: Event) -> bool:
    """Whether the event asks a person something: a question, a plan or a form."""
    return event.name in _FORMS or event.calls(*ASKING_TOOLS)


def is_planned(event: Event) -> bool:
    """Whether an event comes before a call in plan mode, where its own check judges most calls."""
    before = EVENTS[event.name].phase is Phase.BEFORE
    return before and event.permission_mode == PLAN_MODE and not asks(event)


_PREAMBLE = ":preamble-"


def part_of(event: Event) -> str:
    """Return the id of the call that a skill's line is a part of; empty where there is none.

    A skill that a person typed has ids of its own, which no call has.
    """
    if EVENTS[event.name].phase is not Phase.PART or event.tool is None:
        return ""
    call, parted, _ = event.tool.use_id.rpartition(_PREAMBLE)
    return call if parted else ""
