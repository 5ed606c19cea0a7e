"""The 14 events of GitHub Copilot CLI (1.0.102), one row each, as on the protocol's page.

Its events and tools have Claude Code's names, but PermissionRequest and SubagentStart are spelled
otherwise. No call has an id, and PermissionRequest gives only a part of a call's input. Copilot
fails the other way round: a hook that dies denies the call, and a late hook lets it go on.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum

from crabhook.model.card import Stance
from crabhook.model.decision import Verdict
from crabhook.model.elicitation import FormField, read_fields
from crabhook.model.event import EndScope, Event, How, ShownField, ToolCall
from crabhook.model.jsontext import Value, text_at
from crabhook.platforms import common
from crabhook.platforms.event_table import SOON, Also, EventRow, EventTable, Held, Phase


class Way(Enum):
    """How a verdict is written."""

    SILENCE = "nothing on standard output"
    PERMISSION = "hookSpecificOutput.permissionDecision"
    BEHAVIOR = "top-level behavior and message"
    BLOCK = "top-level decision and reason"


_CALL: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.PERMISSION,
    Verdict.DENY: Way.PERMISSION,
    Verdict.ASK: Way.PERMISSION,
}
_REQUEST: Mapping[Verdict, Way] = {
    Verdict.ALLOW: Way.BEHAVIOR,
    Verdict.DENY: Way.BEHAVIOR,
    Verdict.ASK: Way.SILENCE,  # its own rules and dialog come next
}
_BLOCKABLE: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.DENY: Way.BLOCK}
_STOP: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE, Verdict.KEEP_GOING: Way.BLOCK}
_NOTED: Mapping[Verdict, Way] = {Verdict.ALLOW: Way.SILENCE}

_ALWAYS, _ASKED = Held.ALWAYS, Held.ON_REQUEST
_RESULT, _AGENT_OVER, _SESSION_OVER = EndScope.RESULT, EndScope.AGENT, EndScope.SESSION

_TELLS_AGENT: Mapping[str, ShownField] = {
    **common.TELLS_AGENT,
    "agent_name": ShownField("its name", short="agent"),
}

# A result ends no wait: while a hook is asked Copilot shows no dialog, so nobody can answer there.
# fmt: off
EVENTS = EventTable[Way]({
    # tools
    "PreToolUse": EventRow(_ALWAYS, _CALL, Also.CONTEXT, phase=Phase.BEFORE),
    "PermissionRequest": EventRow(_ALWAYS, _REQUEST, phase=Phase.ASKING),
    "PostToolUse": EventRow(  # a command that ends with another code than 0 comes here, too
        _ASKED, _BLOCKABLE, Also.CONTEXT, _RESULT, Phase.RAN, "it ran",
        tells={"tool_result": ShownField("the tool gave", How.RESULT)},
    ),
    "PostToolUseFailure": EventRow(
        _ASKED, _NOTED, Also.CONTEXT, _RESULT, Phase.RAN, "it ran and failed",
        tells={"error": ShownField("the tool failed", How.PROSE)},
    ),
    "PreMcpToolCall": EventRow(hook="it decides nothing, and PreToolUse came before"),
    # prompts and turns
    "UserPromptSubmit": EventRow(
        _ASKED, _BLOCKABLE, Also.CONTEXT, _AGENT_OVER, Phase.PROMPT, "new prompt",
        tells=common.TELLS_PROMPT,
    ),
    "Stop": EventRow(  # of subagents, too
        _ASKED, _STOP, closes=_AGENT_OVER, outcome="the agent's turn ended",
        tells={
            "stop_reason": ShownField("why", short="why"),
            "stop_hook_active": common.STOP_ACTIVE,
        },
    ),
    "Notification": EventRow(hook=SOON),
    "ErrorOccurred": EventRow(
        hook=SOON, tells={"error": ShownField("the error"), "error_context": ShownField("at")}
    ),
    # agents
    "SubagentStart": EventRow(hook=SOON, tells=_TELLS_AGENT),
    "SubagentStop": EventRow(
        closes=_AGENT_OVER, outcome="the subagent ended", hook=SOON,
        tells={**_TELLS_AGENT, **common.TELLS_STOP},
    ),
    # the session and its surroundings
    "SessionStart": EventRow(
        _ASKED, _NOTED, Also.CONTEXT,
        tells={
            **common.TELLS_SESSION,
            "initial_prompt": ShownField("the first prompt", How.PROSE, short="first prompt"),
        },
    ),
    "SessionEnd": EventRow(
        closes=_SESSION_OVER, outcome="its session ended", hook=SOON,
        tells={"reason": ShownField("why")},
    ),
    "PreCompact": EventRow(hook=SOON, tells=common.TELLS_COMPACTING),
})
# fmt: on

# The two tools that need the person at the agent: an allow opens their dialog all the same.
QUESTION_TOOL = "AskUserQuestion"
PLAN_TOOL = "exit_plan_mode"
ASKING_TOOLS = frozenset({QUESTION_TOOL, PLAN_TOOL})

_REQUESTED = "PermissionRequest"
_EVENT_NAMES: Mapping[str, str] = {"permissionRequest": _REQUESTED}
_SNAKE: Mapping[str, str] = {
    "sessionId": "session_id",
    "transcriptPath": "transcript_path",
    "toolName": "tool_name",
    "toolInput": "tool_input",
    "agentName": "agent_name",
    "permissionSuggestions": "permission_suggestions",
}


def _named(sent: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return an input with the names that most events have for its fields and itself.

    PermissionRequest has `hookName` and camelCase alone; SubagentStart names itself nowhere.
    """
    fields = {
        _SNAKE[key] if key in _SNAKE and _SNAKE[key] not in sent else key: value
        for key, value in sent.items()
    }
    if common.EVENT in sent:
        return fields
    if name := _EVENT_NAMES.get(text_at(fields, "hookName"), ""):
        del fields["hookName"]
    elif text_at(fields, "agent_name") and text_at(fields, "agent_id"):
        name = "SubagentStart"
    return {common.EVENT: name, **fields}


# PermissionRequest's names of tools that the other events call by Claude Code's names.
_TOOL_NAMES: Mapping[str, str] = {
    "bash": "Bash",
    "view": "Read",
    "create": "Write",
    "edit": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "task": "Agent",
    "web_fetch": "WebFetch",
    "ask_user": QUESTION_TOOL,
}
_PARTS: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"command"}),
    "Edit": frozenset({"path"}),
    "Write": frozenset({"path"}),
}
"""What PermissionRequest has in common with the other events of a call, by its tool."""
_NEW_FILE = re.compile(r"\ndiff --git [^\n]*\ncreate file mode [0-7]+\n")


def _tool(fields: Mapping[str, Value]) -> ToolCall | None:
    name, tool_input = text_at(fields, "tool_name"), fields.get("tool_input")
    if not name:
        return None
    if text_at(fields, common.EVENT) != _REQUESTED:
        return ToolCall(name, _SHOWN[name](tool_input) if name in _SHOWN else tool_input)
    name = _TOOL_NAMES.get(name, name.replace("/", "-"))
    if not isinstance(tool_input, dict):
        return ToolCall(name, tool_input, shared=frozenset())
    if name == "Edit":
        name, tool_input = _change(tool_input)
    keys = frozenset(tool_input)
    return ToolCall(name, tool_input, shared=keys & _PARTS.get(name, keys) or keys)


def _change(tool_input: dict[str, Value]) -> tuple[str, dict[str, Value]]:
    """Return the tool that a request to change a file is of, and the input with its path as `path`.

    Both tools come as "edit", with the change as a diff; only one of them makes a new file.
    """
    is_new = _NEW_FILE.match(text_at(tool_input, "diff")) is not None
    keys = {"file_path": "path"} if "path" not in tool_input else {}
    return (
        "Write" if is_new else "Edit",
        {keys.get(key, key): value for key, value in tool_input.items()},
    )


def _with_questions(tool_input: Value) -> Value:
    """Return the input of ask_user with its form as `questions`, which people are asked here."""
    if not isinstance(tool_input, dict):
        return tool_input
    entries = read_fields({"requested_schema": tool_input.get("requestedSchema")})
    message = text_at(tool_input, "message")
    questions: list[Value] = [
        _question(entry, "" if place else message) for place, entry in enumerate(entries)
    ]
    if not entries and message:
        questions = [{"question": message}]
    return {**tool_input, "questions": questions}


def _with_plan(tool_input: Value) -> Value:
    """Return the input of exit_plan_mode with its plan by the name that it has here."""
    if not isinstance(tool_input, dict):
        return tool_input
    return {"plan" if key == "summary" else key: value for key, value in tool_input.items()}


_SHOWN: Mapping[str, Callable[[Value], Value]] = {
    QUESTION_TOOL: _with_questions,
    PLAN_TOOL: _with_plan,
}
"""How people are shown the inputs of the tools that ask them."""


def _question(entry: FormField, message: str) -> dict[str, Value]:
    """Return a field of a form as a question; `message`: the form's own words, for the first."""
    words = filter(None, (message, entry.title, entry.description))
    options: list[Value] = [{"label": name} for _, name in entry.choices]
    return {
        "question": ": ".join(dict.fromkeys(words)),
        "header": entry.name,
        "type": "yesno" if entry.kind == "boolean" else "choice",
        "multiSelect": entry.kind == "array",
        "options": options,
    }


_read = common.reader("copilot", EVENTS, _tool, _named)


def read_event(payload: bytes) -> Event:
    """Return the event in a hook's standard input, known or not.

    A subagent has a session of its own. Here it is an agent of its parent's session, as its start
    and end tell it. Raises PayloadError.
    """
    event = _read(payload)
    parent = event.text("parent_agent_id")
    return replace(event, session=parent) if event.agent_id and parent else event


def held(event: Event, stance: Stance) -> Held:
    """Return when the event waits for the operator, under this stance.

    Of a companion's PreToolUse only a rule speaks, since PermissionRequest follows where Copilot
    would ask. It never follows for a question and a plan, which wait in any stance.
    """
    row = EVENTS[event.name]
    if row.phase is Phase.BEFORE and stance is Stance.COMPANION and not asks(event):
        return Held.BY_RULE
    return row.held


def by_person(event: Event) -> bool:
    """Whether a person wrote a prompt: a subagent's is its parent's."""
    return not event.agent_id


def asks(event: Event) -> bool:
    """Whether the event is about a question or a plan, which need a person."""
    return event.calls(*ASKING_TOOLS)


def compared(tool: ToolCall) -> Mapping[str, Value]:
    """Return the parts of a call's input that must be the same when it runs.

    A request's are its own; any other event has the whole input, too, to be compared with itself.
    """
    part = tool.part
    parts = {f"part {key}": value for key, value in part.items()} if isinstance(part, dict) else {}
    return parts if tool.shared is not None else {"all": tool.bare, **parts}
