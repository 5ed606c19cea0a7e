"""REQ-006.4: the input."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.sdk.compat import EVENT_TO_NORMALIZED, HookInput, NormalizedEvent, normalize_input
from crabhook.sdk.event import Platform
from tests.support.rows import every_row
from tests.unit.sdk import samples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = ["session_id", "transcript_path", "cwd", "tool_name", "tool_input", "prompt"]
OBJECTS = st.dictionaries(
    st.text() | st.sampled_from([*FIELDS, "hook_event_name", "tool_response"]), JSON
)


@given(OBJECTS, st.sampled_from(list(EVENT_TO_NORMALIZED)))
def test_006_4_any_object_becomes_an_input_of_the_right_types(
    data: dict[str, Any], platform: Platform
) -> None:
    read = HookInput.from_dict(data, platform)
    assert read.platform is platform
    assert isinstance(read.event, NormalizedEvent)
    assert read.raw_input is data
    for name in FIELDS:
        assert isinstance(getattr(read, name), dict if name == "tool_input" else str)
    assert read.tool_response is data.get("tool_response")


@given(JSON, st.sampled_from(list(EVENT_TO_NORMALIZED)))
def test_006_4_whatever_json_is_on_standard_input_is_read(value: Any, platform: Platform) -> None:
    read = normalize_input(json.dumps(value), platform)
    assert read.raw_input == {} or isinstance(value, dict)


@given(st.text(), st.sampled_from(list(EVENT_TO_NORMALIZED)))
def test_006_4_whatever_text_is_on_standard_input_is_read(text: str, platform: Platform) -> None:
    assert isinstance(normalize_input(text, platform), HookInput)


@every_row("text", ["", " ", "{", '{"a": ', "nonsense", "[1]", '"a"', "7", "null", "[" * 100_000])
def test_006_4_empty_or_broken_json_is_an_empty_dict(text: str) -> None:
    read = normalize_input(text, Platform.CLAUDE)
    assert read.raw_input == {}
    assert read == HookInput.from_dict({}, Platform.CLAUDE)


@pytest.mark.parametrize("name", ["Teleport", "", None, 7, "PreCompact", "Notification"])
def test_006_4_an_unknown_event_is_after_agent(name: object) -> None:
    read = HookInput.from_dict({"hook_event_name": name}, Platform.CLAUDE)
    assert read.event is NormalizedEvent.AFTER_AGENT


@every_row("platform, name", samples.SPECIFIED)
def test_006_4_every_recorded_input_is_read_and_kept(platform: str, name: str) -> None:
    recorded = samples.raw(platform, name)
    read = normalize_input(samples.text(platform, name), Platform(platform))
    assert read.raw_input == recorded
    assert read.session_id == recorded["session_id"]
    assert read.tool_response == recorded.get("tool_response")
    assert read.tool_input == recorded.get("tool_input", {})


def test_006_4_a_call_has_all_its_fields() -> None:
    read = normalize_input(samples.text("claude", "PreToolUse-Bash"), Platform.CLAUDE)
    assert (read.event, read.tool_name) == (NormalizedEvent.BEFORE_TOOL, "shell")
    assert read.tool_input["command"] == "echo hi > out.txt"
    assert read.cwd == "/home/dev/project"
    assert read.transcript_path.endswith(".jsonl")
    prompt = normalize_input(samples.text("gemini", "BeforeAgent"), Platform.GEMINI)
    assert prompt.prompt == samples.raw("gemini", "BeforeAgent")["prompt"]
