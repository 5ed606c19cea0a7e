"""A hook's input in the specification's shape (REQ-006.4)."""

import json
from dataclasses import dataclass, field
from typing import Any, Self

from crabhook.sdk.compat.names import NormalizedEvent, Platform, normalize_event, normalize_tool


@dataclass
class HookInput:
    """What happened, by names that are the same on every platform.

    A field that the agent did not send, or sent as another type, is empty;
    `raw_input` is the whole input as it came.
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
        tool_input = data.get("tool_input")
        return cls(
            platform=platform,
            event=normalize_event(platform, _text(data, "hook_event_name")),
            session_id=_text(data, "session_id"),
            transcript_path=_text(data, "transcript_path"),
            cwd=_text(data, "cwd"),
            tool_name=normalize_tool(platform, _text(data, "tool_name")),
            tool_input=tool_input if isinstance(tool_input, dict) else {},
            tool_response=data.get("tool_response"),
            prompt=_text(data, "prompt"),
            raw_input=data,
        )


def normalize_input(text: str, platform: Platform) -> HookInput:
    """Return the input in a hook's standard input; what is not a JSON object is an empty one."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = {}
    return HookInput.from_dict(data if isinstance(data, dict) else {}, platform)


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
