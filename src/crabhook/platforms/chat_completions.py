"""A scripted model that speaks OpenAI's chat completions, for the agents that do."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from crabhook.platforms.interface import Body, ModelAnswer, Next, Turn, event_stream, turn_of

_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def chat_model(
    tool: str, arguments: Callable[[str], Mapping[str, object]]
) -> Callable[[str, Body, Next], ModelAnswer | None]:
    """Return what answers a request; `tool` is the agent's shell, `arguments` its input."""

    def answer(path: str, body: Body, say: Next) -> ModelAnswer | None:
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
        function = {"name": tool, "arguments": json.dumps(arguments(turn.command))}
        call = {"index": 0, "id": f"call_{turn.id}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    return answer


def _results(body: Body) -> Iterator[object]:
    """Yield what the model is told about its calls."""
    for message in body.get("messages") or ():
        if message["role"] == "tool":
            yield message["content"]
