"""Each agent's model says the same in its own words; real agents take them in tests/e2e.

The dialects are the `scripted_session.py` of each agent's folder.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from crabhook.platforms import HOOKED
from crabhook.platforms.interface import ModelAnswer, Turn

PATHS = {
    "claude": "/v1/messages",
    "gemini": "/v1beta/models/m:generateContent",
    "codex": "/v1/responses",
    "qwen": "/v1/chat/completions",
    "copilot": "/v1/chat/completions",
    "opencode": "/v1/chat/completions",
}
STREAMED = {
    "claude": ("/v1/messages", {"stream": True}),
    "gemini": ("/v1beta/models/m:streamGenerateContent", {}),
    "codex": ("/v1/responses", {}),
    "qwen": ("/v1/chat/completions", {"stream": True}),
    "copilot": ("/v1/chat/completions", {"stream": True}),
    "opencode": ("/v1/chat/completions", {"stream": True}),
}
MANY: dict[str, Any] = {
    "claude": {"tools": [{}] * 9},
    "gemini": {"tools": [{"functionDeclarations": [{}] * 9}]},
    "codex": {"tools": [{}] * 9},
    "qwen": {"tools": [{}] * 9},
    "copilot": {"tools": [{}] * 9},
    "opencode": {"tools": [{}] * 9},
}
TOLD: dict[str, Any] = {
    "claude": {
        "messages": [
            {"content": "hello"},
            {"content": [{"type": "tool_result", "content": [{"type": "text", "text": "why"}]}]},
        ]
    },
    "gemini": {
        "contents": [
            {"parts": [{"text": "hello"}]},
            {"parts": [{"functionResponse": {"response": {"error": "why"}}}]},
        ]
    },
    "codex": {"input": [{"type": "message"}, {"type": "function_call_output", "output": "why"}]},
    "qwen": {
        "messages": [{"role": "user", "content": "hello"}, {"role": "tool", "content": "why"}]
    },
    "copilot": {
        "messages": [{"role": "user", "content": "hello"}, {"role": "tool", "content": "why"}]
    },
    "opencode": {
        "messages": [{"role": "user", "content": "hello"}, {"role": "tool", "content": "why"}]
    },
}


class Script:
    """Says one command, and hears."""

    def __init__(self, command: str | None = None) -> None:
        self.heard: Sequence[str] | None = None
        self._command = command

    def __call__(self, heard: Sequence[str]) -> Turn:
        self.heard = heard
        return Turn(3, self._command)


@pytest.mark.parametrize("agent", HOOKED)
def test_a_command_is_a_call_of_the_agents_shell(agent: str) -> None:
    path, body = STREAMED[agent]
    answer = HOOKED[agent].scripted_session.answer(
        path, {**MANY[agent], **body}, Script("touch it")
    )
    assert isinstance(answer, ModelAnswer)
    assert answer.kind == "text/event-stream"
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line[:6] == "data: "]
    assert "touch it" in json.dumps(events)
    assert answer.text.endswith("\n\n")


@pytest.mark.parametrize("agent", HOOKED)
def test_with_nothing_more_to_do_it_is_done(agent: str) -> None:
    answer = HOOKED[agent].scripted_session.answer(PATHS[agent], MANY[agent], Script())
    assert answer is not None
    assert '"Done."' in answer.text


@pytest.mark.parametrize("agent", HOOKED)
def test_it_hears_what_its_calls_came_to(agent: str) -> None:
    script = Script()
    HOOKED[agent].scripted_session.answer(PATHS[agent], {**MANY[agent], **TOLD[agent]}, script)
    assert script.heard is not None
    (heard,) = script.heard
    assert "why" in heard


@pytest.mark.parametrize("agent", HOOKED)
def test_a_side_request_is_no_turn(agent: str) -> None:
    script = Script("touch it")
    answer = HOOKED[agent].scripted_session.answer(PATHS[agent], {}, script)
    assert answer is not None
    assert ('"Done."' in answer.text, script.heard) == (True, None)


@pytest.mark.parametrize("agent", HOOKED)
def test_another_path_is_not_known(agent: str) -> None:
    assert HOOKED[agent].scripted_session.answer("/v2/else", {}, Script()) is None


@pytest.mark.parametrize(
    ("agent", "path"),
    [("claude", "/v1/messages/count_tokens"), ("gemini", "/v1beta/models/m:countTokens")],
)
def test_tokens_are_counted_on_request(agent: str, path: str) -> None:
    answer = HOOKED[agent].scripted_session.answer(path, {}, Script())
    assert answer is not None
    assert 1 in json.loads(answer.text).values()
