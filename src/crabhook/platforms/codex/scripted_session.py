"""Codex in a scripted session; its model speaks OpenAI's Responses API, streamed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crabhook.platforms.interface import (
    Body,
    ModelAnswer,
    Next,
    ScriptedSession,
    Turn,
    event_stream,
    turn_of,
)

_USAGE = {
    "input_tokens": 1,
    "input_tokens_details": None,
    "output_tokens": 1,
    "output_tokens_details": None,
    "total_tokens": 2,
}
_RESULTS = ("function_call_output", "custom_tool_call_output")
_CONFIGURATION = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{model}/v1"
wire_api = "responses"

[analytics]
enabled = false

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[projects."{project}"]
trust_level = "trusted"
"""


def _home(project: Path, model: str) -> Mapping[str, str]:
    return {".codex/config.toml": _CONFIGURATION.format(model=model, project=project)}


def _answer(path: str, body: Body, say: Next) -> ModelAnswer | None:
    """Answer a request to the model."""
    if path != "/v1/responses":
        return None
    return event_stream(_events(turn_of(len(body.get("tools") or ()), _results(body), say)))


def _events(turn: Turn) -> Sequence[Mapping[str, Any]]:
    content = [{"type": "output_text", "text": "Done."}]
    item: dict[str, Any] = {"type": "message", "role": "assistant", "content": content}
    if turn.command is not None:
        item = {
            "type": "function_call",
            "call_id": f"call_{turn.id}",
            "name": "exec_command",
            "arguments": json.dumps({"cmd": turn.command}),
        }
    name = f"resp_{turn.id}"
    return (
        {"type": "response.created", "response": {"id": name}},
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": item | {"id": f"item_{turn.id}"},
        },
        {"type": "response.completed", "response": {"id": name, "usage": _USAGE}},
    )


def _results(body: Body) -> Iterator[object]:
    """Yield what the model is told about its calls."""
    for item in body.get("input") or ():
        if item["type"] in _RESULTS:
            yield item["output"]


# Codex CLI 0.169, with neither a sandbox nor a review in the way: what runs is the
# proof's own, and a sandbox may not be had everywhere.
_FLAGS = ("--skip-git-repo-check", "--sandbox", "danger-full-access")
SCRIPTED_SESSION = ScriptedSession(
    _home, ("exec", *_FLAGS, "--dangerously-bypass-hook-trust"), _answer
)
