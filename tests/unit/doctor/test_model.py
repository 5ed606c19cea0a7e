"""The scripted model answers its agent over HTTP, in order, and hears what it is told."""

import json
import urllib.error
import urllib.request
from http.client import HTTPConnection
from typing import Any

import pytest

from crabhook.doctor.live_check import ScriptedModel
from crabhook.platforms import PLATFORMS
from crabhook.platforms.interface import ModelAnswer, event_stream


def posted(model: ScriptedModel, path: str, body: Any) -> str:
    request = urllib.request.Request(model.address + path, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


def main(*messages: object) -> dict[str, object]:
    return {"tools": [{}] * 9, "messages": list(messages)}


def test_turns_come_in_order_and_then_it_is_done() -> None:
    with ScriptedModel(PLATFORMS["claude"].scripted_session, ["one", "two"]) as model:
        said = [json.loads(posted(model, "/v1/messages", main()))["content"][0] for _ in range(4)]
    assert [block.get("input", {}).get("command") for block in said] == ["one", "two", None, None]
    assert model.asked == 4


def test_side_requests_are_answered_and_take_no_turn() -> None:
    with ScriptedModel(PLATFORMS["claude"].scripted_session, ["one"]) as model:
        text = posted(model, "/v1/messages", {"messages": []})
        assert (json.loads(text)["content"][0]["text"], model.asked) == ("Done.", 0)


def test_what_the_model_is_told_of_its_calls_is_heard() -> None:
    result = {"type": "tool_result", "tool_use_id": "x", "content": "denied: no"}
    with ScriptedModel(PLATFORMS["claude"].scripted_session, ["one"]) as model:
        posted(model, "/v1/messages?beta=true", main({"role": "user", "content": [result]}))
        assert model.heard == ("denied: no",)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_what_it_does_not_know_is_not_there(method: str) -> None:
    with ScriptedModel(PLATFORMS["claude"].scripted_session, []) as model:
        line = HTTPConnection(*model.server_address[:2], timeout=60)  # type: ignore[misc]
        line.request(method, "/elsewhere", body=b"{}" if method == "POST" else None)
        answer = line.getresponse()
        text = answer.read()
        line.close()
    assert answer.status == 404
    assert bool(text) is (method != "HEAD")


def test_after_its_end_nobody_answers() -> None:
    with ScriptedModel(PLATFORMS["claude"].scripted_session, []) as model:
        address = model.address
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=60)


def test_events_are_streamed_as_they_are_named() -> None:
    assert event_stream([{"type": "a"}]) == ModelAnswer(
        'event: a\ndata: {"type": "a"}\n\n', "text/event-stream"
    )
    assert event_stream([{"type": "a"}], named=False).text == 'data: {"type": "a"}\n\n'
