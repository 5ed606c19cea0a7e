"""What became of a call that nobody decided: what the event that ends its wait tells of it."""

from collections.abc import Mapping

from crabhook.model.event import Event

_OUTCOMES: Mapping[str, str] = {
    "AfterTool": "it ran",
    "BeforeAgent": "its user wrote a new prompt",
    "AfterAgent": "the agent's turn ended",
    "SessionEnd": "its session ended",
}


def outcome(event: Event) -> str:
    """Return in words why nobody waits any more; empty where the event tells nothing of it."""
    return _OUTCOMES.get(event.name, "")
