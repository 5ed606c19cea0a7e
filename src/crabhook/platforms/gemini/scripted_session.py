"""Gemini CLI in a scripted session; its model speaks the Gemini API, streamed or whole."""

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

_MODEL = "gemini-2.5-flash"  # named, so that no model is asked first which it shall be
_USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}


def _home(project: Path, _: str) -> Mapping[str, Mapping[str, object]]:
    return {
        ".gemini/settings.json": {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
            "privacy": {"usageStatisticsEnabled": False},
        },
        ".gemini/trustedFolders.json": {str(project): "TRUST_FOLDER"},
    }


def _answer(path: str, body: Body, say: Next) -> ModelAnswer | None:
    """Answer a request to the model, or a count of tokens."""
    model, _, method = path.rpartition("/")[2].partition(":")
    if method == "countTokens":
        return ModelAnswer('{"totalTokens": 1}')
    if method not in {"generateContent", "streamGenerateContent"}:
        return None
    tools = sum(len(tool["functionDeclarations"]) for tool in body.get("tools") or ())
    reply = _reply(model, turn_of(tools, _results(body), say))
    if method == "streamGenerateContent":
        return event_stream([reply], named=False)
    return ModelAnswer(json.dumps(reply))


def _reply(model: str, turn: Turn) -> Mapping[str, Any]:
    part: Mapping[str, Any] = {"text": "Done."}
    if turn.command is not None:
        arguments = {"command": turn.command, "description": "Make a file"}
        part = {"functionCall": {"name": "run_shell_command", "args": arguments}}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": model}


def _results(body: Body) -> Iterator[str]:
    """Yield what the model is told about its calls."""
    for content in body.get("contents") or ():
        for part in content["parts"]:
            if "functionResponse" in part:
                yield json.dumps(part["functionResponse"]["response"], ensure_ascii=False)


SCRIPTED_SESSION = ScriptedSession(  # Gemini CLI 0.61, which asks nobody but its hooks
    _home,
    ("--model", _MODEL, "--approval-mode", "yolo", "-p"),
    _answer,
    {
        "GOOGLE_GEMINI_BASE_URL": "{model}",
        "GEMINI_API_KEY": "no-key-at-all",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
)
