"""Gemini CLI on the stage; its model speaks the Gemini API, streamed or whole."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crabhook.platforms.staging import Answer, Body, Next, Stage, Turn, event_stream

_MODEL = "gemini-2.5-flash"  # named, so that no model is asked first which it shall be
_FEWEST_TOOLS = 5  # a side request offers few
_USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}


class _Played:
    """Gemini CLI 0.61."""

    def prepare(self, stage: Stage, model: str) -> None:  # noqa: ARG002 - see `environment`
        """Write the settings in which no dialog comes up, beside the hooks; trust the project."""
        stage.add(
            ".gemini/settings.json",
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
                "privacy": {"usageStatisticsEnabled": False},
            },
        )
        stage.write(".gemini/trustedFolders.json", {str(stage.project): "TRUST_FOLDER"})

    def environment(self, model: str) -> Mapping[str, str]:
        """Return where its model is, and any key."""
        return {
            "GOOGLE_GEMINI_BASE_URL": model,
            "GEMINI_API_KEY": "no-key-at-all",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def command(self, program: Path, prompt: str) -> Sequence[str]:
        """Return the command of a run in which it asks nobody but its hooks."""
        return (str(program), "--model", _MODEL, "--approval-mode", "yolo", "-p", prompt)

    def answer(self, path: str, body: Body, say: Next) -> Answer | None:
        """Answer a request to the model, or a count of tokens."""
        model, _, method = path.rpartition("/")[2].partition(":")
        if method == "countTokens":
            return Answer('{"totalTokens": 1}')
        if method not in {"generateContent", "streamGenerateContent"}:
            return None
        tools = [one for tool in body.get("tools") or () for one in tool["functionDeclarations"]]
        main = len(tools) >= _FEWEST_TOOLS
        reply = _reply(model, say(list(_results(body))) if main else Turn(0))
        if method == "streamGenerateContent":
            return event_stream([reply], named=False)
        return Answer(json.dumps(reply))


def _reply(model: str, turn: Turn) -> Mapping[str, Any]:
    part: Mapping[str, Any] = {"text": "Done."}
    if turn.command is not None:
        given = {"command": turn.command, "description": "Make a file"}
        part = {"functionCall": {"name": "run_shell_command", "args": given}}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": model}


def _results(body: Body) -> Iterator[str]:
    """Yield what the model is told about its calls."""
    for content in body.get("contents") or ():
        for part in content["parts"]:
            if "functionResponse" in part:
                yield json.dumps(part["functionResponse"]["response"], ensure_ascii=False)


STAGE = _Played()
