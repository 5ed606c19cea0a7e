"""Whose input it is, and what event."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.errors import PayloadError
from crabhook.sdk import EVENTS, Event, Platform, Unknown, find_platform, read_event
from crabhook.sdk.event import Anything, Flag, Number, Object, Objects, Text
from tests.support.rows import every_row
from tests.unit.sdk import samples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
NAMES = sorted({name for kinds in EVENTS.values() for name in kinds})
KEYS = ["tool_name", "tool_input", "turn_id", "timestamp", "transcript_path", "permission_mode"]


@every_row("platform, name", samples.ALL)
def test_the_platform_of_every_recorded_input_is_found(platform: str, name: str) -> None:
    recorded = samples.text(platform, name).encode()
    event = read_event(recorded)
    assert event.platform == platform
    assert event.payload == recorded
    assert type(event) is type(read_event(recorded, platform))


@every_row(
    "platform, raw",
    [
        ("claude", {"hook_event_name": "SessionEnd"}),
        ("gemini", {"hook_event_name": "SessionEnd", "timestamp": "2026-11-21T20:45:30.874Z"}),
        ("gemini", {"hook_event_name": "BeforeTool"}),
        ("codex", {"hook_event_name": "PreToolUse", "turn_id": "t"}),
        ("codex", {"hook_event_name": "SessionStart", "permission_mode": "default"}),
        ("codex", {"hook_event_name": "SessionEnd", "transcript_path": "/x/rollout-1.jsonl"}),
        ("codex", {"hook_event_name": "Interrupt"}),
        ("claude", {"hook_event_name": "MessageDisplay", "turn_id": "t"}),
        ("claude", {"hook_event_name": "PermissionDenied", "timestamp": "t"}),
        ("claude", {"hook_event_name": "PreToolUse", "timestamp": "t"}),
        ("claude", {"hook_event_name": "PreToolUse", "permission_mode": "default"}),
        ("gemini", {"hook_event_name": "Teleport", "timestamp": "t"}),
        ("qwen", {"hook_event_name": "Stop", "timestamp": "t", "permission_mode": "yolo"}),
        ("qwen", {"hook_event_name": "TodoCreated"}),
        ("copilot", {"hook_event_name": "Stop", "stop_reason": "end_turn"}),
        ("copilot", {"hook_event_name": "PreToolUse", "timestamp": "t", "cwd": "/p"}),
        ("copilot", {"hook_event_name": "ErrorOccurred"}),
    ],
)
def test_one_sign_is_enough_to_tell_whose_event_it_is(platform: str, raw: dict[str, Any]) -> None:
    assert find_platform(raw) == platform


@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(KEYS), JSON))
def test_a_known_event_is_never_taken_for_that_of_an_agent_without_it(
    name: str, fields: dict[str, Any]
) -> None:
    platform = find_platform({**fields, "hook_event_name": name})
    assert name in EVENTS[platform]


@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(KEYS) | st.text(), JSON))
def test_006_4_from_any_object_an_event_is_read_and_all_its_fields(
    name: str, fields: dict[str, Any]
) -> None:
    event = read_event({**fields, "hook_event_name": name})
    assert not isinstance(event, Unknown)
    for key in dir(event):
        getattr(event, key)


def test_the_platform_can_be_told() -> None:
    raw = {"hook_event_name": "SessionStart"}
    assert read_event(raw).platform is Platform.CLAUDE
    assert read_event(raw, "gemini").platform is Platform.GEMINI
    assert read_event(raw, Platform.CODEX).platform is Platform.CODEX
    with pytest.raises(ValueError, match="acme"):
        read_event(raw, "acme")


def test_006_4_an_unknown_event_is_unknown_and_kept() -> None:
    raw = {"hook_event_name": "Teleport", "beam": {"up": [1, None]}}
    event = read_event(raw)
    assert type(event) is Unknown
    assert (event.name, event.raw, event.verdicts) == ("Teleport", raw, frozenset())


def test_an_event_of_another_agent_is_unknown() -> None:
    assert type(read_event({"hook_event_name": "BeforeTool"}, "claude")) is Unknown
    assert type(read_event({"hook_event_name": "PermissionRequest"}, "gemini")) is Unknown


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[1]", b"null", b"\xff", b"{}", b'{"hook_event_name": ""}',
     b'{"hook_event_name": 7}', b'{"hook_event_name": "Stop", "n": NaN}'],
)  # fmt: skip
def test_006_4_what_is_no_event_is_an_error_and_no_event(payload: bytes) -> None:
    with pytest.raises(PayloadError):
        read_event(payload)


def test_fields_are_empty_where_nothing_of_their_type_was_sent() -> None:
    class Probe(Event):
        text = Text("text", "older")
        flag = Flag("flag")
        number = Number("number")
        object = Object("object")
        objects = Objects("objects")
        anything = Anything("anything")

    def probe(**raw: Any) -> Probe:
        return Probe(raw, Platform.CLAUDE, b"")

    empty = probe()
    assert (empty.text, empty.flag, empty.number) == ("", False, 0)
    assert (empty.object, empty.objects, empty.anything) == ({}, [], None)
    wrong = probe(text=1, flag="true", number="1", object=[], objects={"a": 1}, anything=[1])
    assert (wrong.text, wrong.flag, wrong.number) == ("", False, 0)
    assert (wrong.object, wrong.objects, wrong.anything) == ({}, [], [1])
    right = probe(older="o", flag=True, number=1.5, object={"a": 1}, objects=[{"a": 1}, 2])
    assert (right.text, right.flag, right.number) == ("o", True, 1.5)
    assert (right.object, right.objects) == ({"a": 1}, [{"a": 1}])
