"""How a call went that was answered at the agent: what the event that ends its wait tells of it."""

from collections.abc import Mapping

from crabhook.model.event import Event

_OUTCOMES: Mapping[str, str] = {
    "PostToolUse": "it ran",
    "UserPromptSubmit": "its user wrote a new prompt",
    "Stop": "the agent's turn ended",
    "SubagentStop": "the subagent ended",
    "Interrupt": "its user interrupted the turn",
    "SessionEnd": "its session ended",
}


def outcome(event: Event) -> str:
    """Return what became of the call, in words."""
    return _OUTCOMES.get(event.name, "")
