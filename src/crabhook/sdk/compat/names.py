"""Events and tools by one name each, as REQ-006.1 to 006.3 specify them."""

from collections.abc import Mapping
from enum import StrEnum

from crabhook.sdk.platform import Platform

__all__ = [
    "EVENT_TO_NORMALIZED",
    "NORMALIZED_TO_EVENT",
    "NORMALIZED_TO_TOOL",
    "TOOL_TO_NORMALIZED",
    "NormalizedEvent",
    "Platform",
    "normalize_event",
    "normalize_tool",
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


# Codex has Claude Code's names for the events that both have.
_BY_CLAUDE_AND_CODEX: Mapping[str, NormalizedEvent] = {
    "Stop": NormalizedEvent.AFTER_AGENT,
    "SubagentStop": NormalizedEvent.AFTER_AGENT,
    "PreToolUse": NormalizedEvent.BEFORE_TOOL,
    "PostToolUse": NormalizedEvent.AFTER_TOOL,
    "UserPromptSubmit": NormalizedEvent.BEFORE_PROMPT,
    "SessionStart": NormalizedEvent.SESSION_START,
    "SessionEnd": NormalizedEvent.SESSION_END,
}

EVENT_TO_NORMALIZED: Mapping[Platform, Mapping[str, NormalizedEvent]] = {
    Platform.CLAUDE: _BY_CLAUDE_AND_CODEX,
    Platform.GEMINI: {
        "AfterAgent": NormalizedEvent.AFTER_AGENT,
        "BeforeTool": NormalizedEvent.BEFORE_TOOL,
        "AfterTool": NormalizedEvent.AFTER_TOOL,
        "BeforeAgent": NormalizedEvent.BEFORE_PROMPT,
        "SessionStart": NormalizedEvent.SESSION_START,
        "SessionEnd": NormalizedEvent.SESSION_END,
        "BeforeModel": NormalizedEvent.BEFORE_MODEL,
        "AfterModel": NormalizedEvent.AFTER_MODEL,
    },
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
