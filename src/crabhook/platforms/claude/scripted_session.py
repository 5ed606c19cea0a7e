"""Claude Code in a scripted session; its model speaks the Messages API, streamed or whole."""

import json
from collections.abc import Iterator, Mapping
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

_KEY = "no-key-at-all-but-long-enough"  # its last twenty characters are how it is remembered
_USAGE = {"input_tokens": 1, "output_tokens": 1}


def _home(project: Path, _: str) -> Mapping[str, Mapping[str, object]]:
    return {
        ".claude.json": {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "numStartups": 3,
            "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
            "projects": {str(project): {"hasTrustDialogAccepted": True}},
        }
    }


def _answer(path: str, body: Body, say: Next) -> ModelAnswer | None:
    """Answer a request to the model, or a count of tokens."""
    if path == "/v1/messages/count_tokens":
        return ModelAnswer('{"input_tokens": 1}')
    if path != "/v1/messages":
        return None
    message = _message(body, turn_of(len(body.get("tools") or ()), _results(body), say))
    return (
        event_stream(_events(message)) if body.get("stream") else ModelAnswer(json.dumps(message))
    )


def _message(body: Body, turn: Turn) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": "Done."}
    if turn.command is not None:
        tool_input = {"command": turn.command, "description": "Make a file"}
        block = {"type": "tool_use", "id": f"toolu_{turn.id}", "name": "Bash", "input": tool_input}
    return {
        "id": f"msg_{turn.id}",
        "type": "message",
        "role": "assistant",
        "model": str(body.get("model", "scripted")),
        "content": [block],
        "stop_reason": "end_turn" if turn.command is None else "tool_use",
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _events(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a whole message of a single block as the events of a stream."""
    (block,) = message["content"]
    start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block.get("text")}
    if block["type"] == "tool_use":
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    ending = {key: message[key] for key in ("stop_reason", "stop_sequence")}
    empty = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": empty}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": ending, "usage": _USAGE}
    yield {"type": "message_stop"}


def _results(body: Body) -> Iterator[object]:
    """Yield what the model is told about its calls."""
    for message in body.get("messages") or ():
        content = message["content"]
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_result":
                yield block.get("content", "")


SCRIPTED_SESSION = ScriptedSession(  # Claude Code 2.1, whose own rules allow every command
    _home,
    ("-p", "--permission-mode", "default", "--allowedTools=Bash"),
    _answer,
    {
        "ANTHROPIC_BASE_URL": "{model}",
        "ANTHROPIC_API_KEY": _KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
)
