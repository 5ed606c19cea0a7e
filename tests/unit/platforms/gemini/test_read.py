"""What Gemini CLI sends, read into an event."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.errors import PayloadError
from crabhook.platforms.gemini.events import EVENTS, read_event
from tests.support.rows import every_row

SAMPLES = sorted((Path(__file__).parents[3] / "samples" / "gemini").glob("*.json"))
TEXTS = {"session_id": "session", "cwd": "cwd"}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


def test_there_are_samples_of_every_event() -> None:
    assert {sample.name.partition("-")[0].removesuffix(".json") for sample in SAMPLES} == set(
        EVENTS
    )


@every_row("sample", SAMPLES)
def test_every_recorded_input_is_read_whole(sample: Path) -> None:
    recorded = json.loads(sample.read_bytes())
    event = read_event(sample.read_bytes())
    assert event.fields == recorded
    assert (event.platform, event.name) == ("gemini", recorded["hook_event_name"])
    for key, name in TEXTS.items():
        assert getattr(event, name) == recorded[key]
    if event.tool is None:
        assert "tool_name" not in recorded
    else:
        assert (event.tool.name, event.tool.input) == (
            recorded["tool_name"],
            recorded["tool_input"],
        )
        assert event.tool.use_id == ""


@given(st.dictionaries(st.sampled_from([*TEXTS, "tool_name", "tool_input", "x"]), values))
def test_whatever_the_other_fields_are_the_event_is_read(fields: Any) -> None:
    payload = {**fields, "hook_event_name": "BeforeTool"}
    event = read_event(json.dumps(payload).encode())
    assert event.fields == payload
    for key, name in TEXTS.items():
        given = payload.get(key)
        assert getattr(event, name) == (given if isinstance(given, str) else "")


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"{}", b'{"hook_event_name": ""}', b'{"hook_event_name": 1}', b"\xff"]
)
def test_what_has_no_name_is_no_event(payload: bytes) -> None:
    with pytest.raises(PayloadError):
        read_event(payload)
