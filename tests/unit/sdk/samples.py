"""The recorded inputs of all three agents."""

import json
from pathlib import Path
from typing import Any

from crabhook.sdk import Event, read_event

FOLDER = Path(__file__).parents[2] / "samples"
ALL = [
    (platform, file.stem)
    for platform in ("claude", "gemini", "codex")
    for file in sorted((FOLDER / platform).glob("*.json"))
]


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
