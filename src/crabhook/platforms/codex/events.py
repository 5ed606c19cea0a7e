"""The 12 events of Codex (CLI 0.169), a row each, to be held against the protocol's page.

Codex reads an answer strictly and fails open: one key or value that it does not take, and
the call runs. So a verdict is in this table only if Codex was seen to take a form of it.
"""

from collections.abc import Mapping
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from crabhook.model.event import EndScope, Event, ToolCall
from crabhook.model.jsontext import Value, text_at
from crabhook.platforms.common import (
    EVENT,
    TELLS_AGENT,
    TELLS_COMPACTING,
    TELLS_PROMPT,
    TELLS_RESULT,
    TELLS_SESSION,
    TELLS_STOP,
    TELLS_TIME,
    reader,
)
from crabhook.platforms.event_table import (
    ALL,
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
    """How a verdict is written."""

    SILENCE = "nothing on standard output"
    PERMISSION = "hookSpecificOutput.permissionDecision"
    DECISION = "hookSpecificOutput.decision"
    BLOCK = "top-level decision and reason"


# An allow on PreToolUse is void unless it changes the input, and approves
# nothing in either case; so it is silence. To ask cannot be said there at all.
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
_RESULT, _AGENT_OVER, _SESSION_OVER = EndScope.RESULT, EndScope.AGENT, EndScope.SESSION

# Codex gives these no more than 3 s, and warns where more is written.
_AT_THE_DOOR = Patience(timeout=3, client=2)

# A result ends no wait, since Codex shows no dialog of its own while a hook is
# asked. While PermissionRequest's hook is asked no dialog is shown either, but
# Esc ends the turn. PermissionRequest is the one event on which a hook can
# approve, and fires only where Codex would ask its user. PreToolUse comes before
# every call, and can deny it or change it: the gate holds it, and a companion's
# rules are asked there.
# fmt: off
EVENTS = EventTable[Way]({
    # tools
    "PreToolUse": EventRow(_ALWAYS, _CALL, TELL, phase=Phase.BEFORE),
    "PermissionRequest": EventRow(_ALWAYS, _REQUEST, Also.USER, phase=Phase.ASKING),
    "PostToolUse": EventRow(
        _ASKED, _BLOCKABLE, TELL, _RESULT, Phase.RAN, "it ran",
        tells={**TELLS_RESULT, **TELLS_TIME},
    ),
    # prompts and turns
    "UserPromptSubmit": EventRow(
        _ASKED, _BLOCKABLE, TELL, _AGENT_OVER, Phase.PROMPT, "new prompt",
        tells=TELLS_PROMPT,
    ),
    "Stop": EventRow(
        _ASKED, _STOP, Also.USER, _AGENT_OVER, outcome="the agent's turn ended", tells=TELLS_STOP
    ),
    "Interrupt": EventRow(
        closes=_AGENT_OVER, outcome="its user interrupted the turn", hook=_AT_THE_DOOR
    ),
    # agents
    "SubagentStart": EventRow(hook=SOON, tells=TELLS_AGENT),
    "SubagentStop": EventRow(
        _ASKED, _STOP, Also.USER, _AGENT_OVER, outcome="the subagent ended",
        tells={**TELLS_AGENT, **TELLS_STOP},
    ),
    # the session and its surroundings
    "SessionStart": EventRow(_ASKED, _START, ALL, tells=TELLS_SESSION),
    "SessionEnd": EventRow(closes=_SESSION_OVER, outcome="its session ended", hook=_AT_THE_DOOR),
    "PreCompact": EventRow(hook=SOON, tells=TELLS_COMPACTING),
    "PostCompact": EventRow(hook=SOON),
})
# fmt: on

QUESTION_TOOL = "request_user_input"

# Under an approval policy that asks nobody Codex names one of these modes;
# PermissionRequest never follows then. `codex exec` has no other policy.
UNASKED_MODES = frozenset({"bypassPermissions", "dontAsk"})


def held(event: Event, stance: Stance) -> Held:
    """Return when the event waits for the operator, under this stance.

    Of a companion's PreToolUse only a rule speaks: PermissionRequest follows where Codex asks.
    """
    if stance is Stance.COMPANION and event.name == "PreToolUse":
        return Held.BY_RULE
    return EVENTS[event.name].held


def asks(event: Event) -> bool:
    """Whether the event is about questions to a person."""
    return event.calls(QUESTION_TOOL)


# PermissionRequest adds the model's justification to the input of these tools,
# which PreToolUse and PostToolUse of the same call do not have.
COMMANDS = frozenset({"Bash", "apply_patch"})
_JUSTIFICATION = "description"
# Of a command that already runs it asks whether it may reach a host, in the
# same place. That is another question than the command's own, so it stays
# part of what is asked, and no answer about the command is given to it.
_ANOTHER_QUESTION = "network-access "


def _tool(fields: Mapping[str, Value]) -> ToolCall | None:
    name, tool_input = text_at(fields, "tool_name"), fields.get("tool_input")
    if not name:
        return None
    justified = text_at(fields, EVENT) == "PermissionRequest" and name in COMMANDS
    comments = frozenset({_JUSTIFICATION}) if justified and _justifies(tool_input) else frozenset()
    return ToolCall(name, tool_input, text_at(fields, "tool_use_id"), comments)


def _justifies(tool_input: Value) -> bool:
    """Whether a command's extra text only gives reasons."""
    justification = tool_input.get(_JUSTIFICATION) if isinstance(tool_input, dict) else None
    return isinstance(justification, str) and not justification.startswith(_ANOTHER_QUESTION)


read_event = reader("codex", EVENTS, _tool)
