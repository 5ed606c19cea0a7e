"""Qwen Code in a scripted session; its model speaks OpenAI's chat completions."""

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

_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _home(_: Path, __: str) -> Mapping[str, Mapping[str, object]]:
    return {
        ".qwen/settings.json": {
            "$version": 4,
            "security": {
                "auth": {"selectedType": "openai"},
                "folderTrust": {"enabled": False},
            },
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        }
    }


def _answer(path: str, body: Body, say: Next) -> ModelAnswer | None:
    """Answer a request to the model, streamed or whole."""
    if path != "/v1/chat/completions":
        return None
    turn = turn_of(len(body.get("tools") or ()), _results(body), say)
    model = str(body.get("model", "scripted"))
    reply: dict[str, Any] = {"id": f"chat_{turn.id}", "created": 1, "model": model}
    message, end = _message(turn), "stop" if turn.command is None else "tool_calls"
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": end}
        whole = {"object": "chat.completion", "choices": [choice], "usage": _USAGE}
        return ModelAnswer(json.dumps(reply | whole))
    reply["object"] = "chat.completion.chunk"
    first = {"index": 0, "delta": message, "finish_reason": None}
    last: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": end}
    chunks: list[dict[str, Any]] = [{"choices": [first]}, {"choices": [last], "usage": _USAGE}]
    return event_stream([reply | chunk for chunk in chunks], named=False)


def _message(turn: Turn) -> Mapping[str, Any]:
    """Return what the model says: a call of the shell, or that it is done."""
    if turn.command is None:
        return {"role": "assistant", "content": "Done."}
    arguments = {"command": turn.command, "is_background": False}
    function = {"name": "run_shell_command", "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{turn.id}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _results(body: Body) -> Iterator[object]:
    """Yield what the model is told about its calls."""
    for message in body.get("messages") or ():
        if message["role"] == "tool":
            yield message["content"]


SCRIPTED_SESSION = ScriptedSession(  # Qwen Code 0.24, which asks nobody but its hooks
    _home,
    ("--approval-mode", "yolo", "-p"),
    _answer,
    {
        "OPENAI_BASE_URL": "{model}/v1",
        "OPENAI_API_KEY": "no-key-at-all",
        "OPENAI_MODEL": "scripted",
    },
)
