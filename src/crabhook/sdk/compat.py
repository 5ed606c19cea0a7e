"""The hook wrapper as first specified (REQ-006); `crabhook.sdk` is the safe way.

For hooks written to the specification. docs/how-to/own-hooks.md lists its dangers.
"""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from crabhook.model.errors import PayloadError
from crabhook.model.jsontext import object_at, text_at
from crabhook.sdk import heard
from crabhook.sdk.event import Platform
from crabhook.sdk.operator import DEFAULT_TIMEOUT, ask
from crabhook.sdk.running import read_event

__all__ = [
    "EVENT_TO_NORMALIZED",
    "NORMALIZED_TO_EVENT",
    "NORMALIZED_TO_TOOL",
    "TOOL_TO_NORMALIZED",
    "HookInput",
    "HookOutput",
    "NormalizedEvent",
    "Platform",
    "ask_operator",
    "denormalize_output",
    "format_hook_error",
    "normalize_event",
    "normalize_input",
    "normalize_tool",
    "output_hook_error",
    "read_stdin",
    "run_hook",
    "write_stdout",
]


class NormalizedEvent(StrEnum):
    """The events that the specification knows, by the same name on every platform."""

    AFTER_AGENT = "after_agent"
    BEFORE_TOOL = "before_tool"
    BEFORE_PROMPT = "before_prompt"
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    AFTER_TOOL = "after_tool"
    BEFORE_MODEL = "before_model"
    AFTER_MODEL = "after_model"


# Each event's names: Claude Code's, which Codex has too, and Gemini CLI's.
_NAMES = {
    NormalizedEvent.AFTER_AGENT: (("Stop", "SubagentStop"), "AfterAgent"),
    NormalizedEvent.BEFORE_TOOL: (("PreToolUse",), "BeforeTool"),
    NormalizedEvent.AFTER_TOOL: (("PostToolUse",), "AfterTool"),
    NormalizedEvent.BEFORE_PROMPT: (("UserPromptSubmit",), "BeforeAgent"),
    NormalizedEvent.SESSION_START: (("SessionStart",), "SessionStart"),
    NormalizedEvent.SESSION_END: (("SessionEnd",), "SessionEnd"),
    NormalizedEvent.BEFORE_MODEL: ((), "BeforeModel"),
    NormalizedEvent.AFTER_MODEL: ((), "AfterModel"),
}
_BY_CLAUDE_AND_CODEX = {name: event for event, (names, _) in _NAMES.items() for name in names}
EVENT_TO_NORMALIZED: Mapping[Platform, Mapping[str, NormalizedEvent]] = {
    Platform.CLAUDE: _BY_CLAUDE_AND_CODEX,
    Platform.GEMINI: {name: event for event, (_, name) in _NAMES.items()},
    Platform.CODEX: _BY_CLAUDE_AND_CODEX,
}

# Of two names for one event the first counts: AFTER_AGENT is Stop.
NORMALIZED_TO_EVENT: Mapping[Platform, Mapping[NormalizedEvent, str]] = {
    platform: {event: name for name, event in reversed(list(names.items()))}
    for platform, names in EVENT_TO_NORMALIZED.items()
}

_BY_CLAUDE = {
    "Write": "write_file",
    "Edit": "edit_file",
    "Read": "read_file",
    "Bash": "shell",
    "Glob": "glob",
    "Grep": "grep",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "Task": "task",
}

TOOL_TO_NORMALIZED: Mapping[Platform, Mapping[str, str]] = {
    Platform.CLAUDE: _BY_CLAUDE,
    Platform.GEMINI: {name: name for name in _BY_CLAUDE.values()},
    Platform.CODEX: {"Bash": "shell"},
}

NORMALIZED_TO_TOOL: Mapping[Platform, Mapping[str, str]] = {
    platform: {normalized: name for name, normalized in names.items()}
    for platform, names in TOOL_TO_NORMALIZED.items()
}


def normalize_event(platform: Platform, name: str) -> NormalizedEvent:
    """Return the event's name for all platforms; an unknown event is AFTER_AGENT (006.4)."""
    return EVENT_TO_NORMALIZED[platform].get(name, NormalizedEvent.AFTER_AGENT)


def normalize_tool(platform: Platform, name: str) -> str:
    """Return the tool's name for all platforms; an unknown name in lower case (006.3)."""
    return TOOL_TO_NORMALIZED[platform].get(name, name.lower())


@dataclass
class HookInput:
    """An event with the same names on every platform.

    A missing field, or one of a wrong type, is empty; `raw_input` is the whole input.
    """

    platform: Platform
    event: NormalizedEvent
    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    tool_name: str = ""
    tool_input: dict[str, Any] = field(default_factory=dict)
    tool_response: Any = None
    prompt: str = ""
    raw_input: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, data: dict[str, Any], platform: Platform) -> Self:
        """Return the input in `data`, an agent's JSON; an unknown event is AFTER_AGENT."""
        return cls(
            platform=platform,
            event=normalize_event(platform, text_at(data, "hook_event_name")),
            session_id=text_at(data, "session_id"),
            transcript_path=text_at(data, "transcript_path"),
            cwd=text_at(data, "cwd"),
            tool_name=normalize_tool(platform, text_at(data, "tool_name")),
            tool_input=object_at(data, "tool_input"),
            tool_response=data.get("tool_response"),
            prompt=text_at(data, "prompt"),
            raw_input=data,
        )


def normalize_input(text: str, platform: Platform) -> HookInput:
    """Return the input on a hook's standard input; empty if it is no JSON object."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = {}
    return HookInput.from_dict(data if isinstance(data, dict) else {}, platform)


@dataclass
class HookOutput:
    """What the agent should read; all empty means no opinion.

    `context` becomes what 006.6 says: on most events of Claude Code a message to the user that does
    not reach the model. `raw_output` adds members to the JSON and replaces none.
    """

    decision: str = ""
    reason: str = ""
    context: str = ""
    continue_loop: bool = True
    stop_reason: str = ""
    suppress_output: bool = False
    raw_output: dict[str, Any] = field(default_factory=dict)


def denormalize_output(output: HookOutput, platform: Platform, event: NormalizedEvent) -> str:
    """Return the JSON that the platform reads on this event, "{}" for no opinion."""
    members: dict[str, Any] = {}
    if output.decision:
        denies = output.decision == "block" and platform is Platform.GEMINI
        members["decision"] = "deny" if denies else output.decision
    if output.reason:
        members["reason"] = output.reason
    if not output.continue_loop:
        members["continue"] = False
        if output.stop_reason:
            members["stopReason"] = output.stop_reason
    if output.suppress_output:
        members["suppressOutput"] = True
    if output.context:
        members |= _context(output.context, platform, event)
    return json.dumps(_merged(members, output.raw_output))


def _context(text: str, platform: Platform, event: NormalizedEvent) -> dict[str, Any]:
    if platform is not Platform.GEMINI and event is not NormalizedEvent.SESSION_START:
        return {"systemMessage": text}
    name = NORMALIZED_TO_EVENT[platform][event]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _merged(members: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return `said` with members that only `more` has, also inside shared objects."""
    whole = {**more, **members}
    for key in members.keys() & more.keys():
        if isinstance(members[key], dict) and isinstance(more[key], dict):
            whole[key] = _merged(members[key], more[key])
    return whole


def ask_operator(
    hook_input: HookInput, *, address: str | None = None, timeout: float = DEFAULT_TIMEOUT
) -> HookOutput | None:
    """Ask the operator about this event; None means that nobody decided: no opinion.

    `raw_output` has the answer in the platform's words, since this class has no field for a changed
    input or a permission. An answer by exit code becomes a block. `crabhook.sdk.ask_operator`
    explains the arguments.
    """
    try:
        event = read_event(hook_input.raw_input, hook_input.platform)
    except PayloadError:
        return None
    asked = ask(event, address=address, timeout=timeout)
    if asked is None:
        return None
    asked.confirm()
    if heard.answer(event, asked.reply) is None:
        return None
    if asked.reply.exit_code:
        return HookOutput("block", reason=asked.reply.stderr.decode("utf-8", "replace").strip())
    return HookOutput(raw_output=dict(heard.output(asked.reply)))


def run_hook(function: Callable[[HookInput], HookOutput], platform: Platform) -> int:
    """Read the input, call `function`, write what it returns; always return 0.

    On every event an exception becomes a block with its traceback as reason, so that an agent that
    wants to stop may run in circles.
    """
    try:
        hook_input = normalize_input(read_stdin(), platform)
        output = function(hook_input)
        write_stdout(denormalize_output(output, platform, hook_input.event))
    except Exception as error:  # noqa: BLE001 - 006.10: whatever it is, the agent is told and 0 returned
        output_hook_error(error)
    return 0


def read_stdin() -> str:
    """Return standard input; empty from a terminal or on an error."""
    try:
        return "" if sys.stdin.isatty() else sys.stdin.read()
    except Exception:  # noqa: BLE001 - 006.8: the empty string on any exception
        return ""


def write_stdout(text: str) -> None:
    """Print the text on standard output."""
    print(text)  # noqa: T201 - 006.8 asks for it


def format_hook_error(error: BaseException, context: str = "") -> dict[str, Any]:
    """Return a block whose reason tells of the error; `context` is what was being done."""
    lines = ["Hook Script Error", ""]
    if context:
        lines.append(f"Context: {context}")
    lines += [f"Error type: {type(error).__name__}", f"Message: {error}", "", "Traceback:"]
    trace = "".join(traceback.format_exception(error))
    return {"decision": "block", "reason": "\n".join(lines) + "\n" + trace}


def output_hook_error(error: BaseException, context: str = "") -> None:
    """Print the block of `format_hook_error` as JSON."""
    write_stdout(json.dumps(format_hook_error(error, context)))
