"""A call as a person types it: a tool, and the only input that rules look at."""

from pathlib import Path

from crabhook.model.event import Event, ToolCall
from crabhook.policy.calls.parts import CallKind, kind_of
from crabhook.vocabulary import path_key

_AGENT = "claude"
_KEYS = {
    CallKind.COMMAND: "command",
    CallKind.PATCH: "command",
    CallKind.FETCH: "url",
    CallKind.AGENT: "subagent_type",
    CallKind.SKILL: "skill",
}


def event_of(tool: str, text: str, project: Path, mode: str = "default") -> Event:
    """Return the event of a call of `tool` whose one input that rules look at is `text`."""
    key = path_key(tool, _AGENT) or _KEYS.get(kind_of(tool), "file_path")
    call = ToolCall(tool, {key: text})
    return Event(_AGENT, "PreToolUse", cwd=str(project), permission_mode=mode, tool=call)
