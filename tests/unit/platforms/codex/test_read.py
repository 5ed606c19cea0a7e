"""Standard input becomes an event, and nothing of it is lost."""

import json
from typing import Any

import pytest

from crabhook.broker.cards import joins, result_of, same_call
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.platforms.codex.events import EVENTS, read_event
from tests.support.client import SAMPLES
from tests.support.rows import every_row

NAMES = sorted(file.stem for file in (SAMPLES / "codex").glob("*.json"))


def event(name: str, **fields: Any) -> Event:
    return read_event(json.dumps({"hook_event_name": name, "session_id": "s", **fields}).encode())


def called(name: str, tool_input: Any, tool: str = "Bash", **fields: Any) -> Event:
    return event(name, tool_name=tool, tool_input=tool_input, **fields)


@every_row("name", NAMES)
def test_a_recorded_input_is_read_whole(name: str) -> None:
    payload = (SAMPLES / "codex" / f"{name}.json").read_bytes()
    read, told = read_event(payload), json.loads(payload)
    assert read.fields == told
    assert read.name in EVENTS
    assert (read.platform, read.session, read.cwd) == ("codex", told["session_id"], told["cwd"])
    assert read.permission_mode == told.get("permission_mode", "")
    if "tool_name" in told:
        assert read.tool is not None
        assert read.tool.name == told["tool_name"]
        assert read.tool.input == told["tool_input"]
        assert read.tool.use_id == told.get("tool_use_id", "")
    else:
        assert read.tool is None


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"{}", b'{"hook_event_name":""}', b'{"hook_event_name":1}', b"\xff"],
)
def test_what_is_no_event_is_refused_in_words(payload: bytes) -> None:
    with pytest.raises(PayloadError):
        read_event(payload)


def test_fields_of_odd_types_are_read_as_empty_and_kept() -> None:
    read = event("PreToolUse", cwd=7, tool_name=["x"], agent_id=None)
    assert (read.cwd, read.tool, read.agent_id) == ("", None, "")
    assert read.fields["tool_name"] == ["x"]


def test_a_justification_makes_no_other_call() -> None:
    before = called("PreToolUse", {"command": "make"}, tool_use_id="t1")
    asked = called("PermissionRequest", {"command": "make", "description": "May I?"})
    after = called("PostToolUse", {"command": "make"}, tool_use_id="t1")
    assert same_call(before, asked)
    assert joins([before], asked)
    assert result_of(asked, after)
    assert asked.tool is not None
    assert asked.tool.input == {"command": "make", "description": "May I?"}


def test_another_command_with_the_same_justification_is_another_call() -> None:
    before = called("PreToolUse", {"command": "make"}, tool_use_id="t1")
    assert not same_call(before, called("PermissionRequest", {"command": "rm", "description": "d"}))


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("mcp__a__b", {"text": "hi", "description": "its own argument"}),
        ("Bash", {"text": "hi", "description": "network-access https://example.org:443"}),
        ("Bash", {"text": "hi", "description": ["odd"]}),
    ],
)
def test_what_may_ask_for_something_else_is_never_the_same_call(tool: str, asked: Any) -> None:
    before = called("PreToolUse", {"text": "hi"}, tool, tool_use_id="t1")
    assert not same_call(before, called("PermissionRequest", asked, tool))


def test_a_description_before_the_call_is_part_of_it() -> None:
    one = called("PreToolUse", {"command": "make", "description": "a"})
    other = called("PostToolUse", {"command": "make", "description": "b"})
    assert not same_call(one, other)
