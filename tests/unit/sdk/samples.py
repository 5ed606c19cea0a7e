"""The recorded inputs of every agent that starts hooks."""

import json
from pathlib import Path
from typing import Any

from crabhook.sdk import Event, read_event

FOLDER = Path(__file__).parents[2] / "samples"
ALL = [
    (platform, file.stem)
    for platform in ("claude", "gemini", "codex", "qwen", "copilot")
    for file in sorted((FOLDER / platform).glob("*.json"))
]
SPECIFIED = [row for row in ALL if row[0] in ("claude", "gemini", "codex")]
"""Those of the agents that `crabhook.sdk.compat` is for."""


def text(platform: str, name: str) -> str:
    """The input as it was recorded."""
    return (FOLDER / platform / f"{name}.json").read_text(encoding="utf-8")


def raw(platform: str, name: str, **changes: Any) -> dict[str, Any]:
    """The input as an object, some of its fields changed."""
    fields: dict[str, Any] = json.loads(text(platform, name))
    return fields | changes


def event(platform: str, name: str, **changes: Any) -> Event:
    """The input as an event."""
    return read_event(raw(platform, name, **changes), platform)
