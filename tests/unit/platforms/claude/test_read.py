"""Claude Code's hook input, read whole and forgivingly."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.errors import PayloadError
from crabhook.model.event import ToolCall
from crabhook.platforms.claude.events import read_event
from tests.support.rows import every_row

SAMPLES = sorted((Path(__file__).parents[3] / "samples" / "claude").glob("*.json"))

FULL = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "cwd": "/p",
    "permission_mode": "plan",
    "agent_id": "a1",
    "agent_type": "Explore",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "t1",
}
WRONG = [None, True, 1, 1.5, [], ["x"], {}, {"x": 1}]


def read(fields: Any) -> Any:
    return read_event(json.dumps(fields).encode())


@every_row("sample", SAMPLES)
def test_every_recorded_input_is_read_and_kept_whole(sample: Path) -> None:
    recorded = json.loads(sample.read_bytes())
    event = read_event(sample.read_bytes())
    assert event.fields == recorded
    assert event.name == recorded["hook_event_name"] == sample.stem.split("-")[0]
    assert event.session == recorded["session_id"]
    assert event.agent_id == recorded.get("agent_id", "")
    assert (event.tool.name if event.tool else None) == recorded.get("tool_name")


def test_there_are_samples_to_read() -> None:
    assert len(SAMPLES) > 30


def test_the_named_fields_are_read() -> None:
    event = read(FULL)
    assert event.tool == ToolCall("Bash", {"command": "ls"}, "t1")
    assert (event.platform, event.name, event.session, event.cwd) == (
        "claude",
        "PreToolUse",
        "s",
        "/p",
    )
    assert (event.permission_mode, event.agent_id, event.agent_type) == ("plan", "a1", "Explore")


@every_row("key", sorted(FULL.keys() - {"hook_event_name", "tool_input"}))
@every_row("wrong", WRONG)
def test_a_field_of_the_wrong_type_is_empty_and_kept(key: str, wrong: Any) -> None:
    event = read({**FULL, key: wrong})
    assert event.fields == {**FULL, key: wrong}
    places = {
        "tool_name": event.tool and event.tool.name,
        "tool_use_id": event.tool and event.tool.use_id,
    }
    named = {
        "session_id": event.session,
        "cwd": event.cwd,
        "permission_mode": event.permission_mode,
    }
    others = {"agent_id": event.agent_id, "agent_type": event.agent_type}
    assert not {**places, **named, **others}[key]


@pytest.mark.parametrize("key", sorted(FULL.keys() - {"hook_event_name"}))
def test_a_field_may_be_missing(key: str) -> None:
    fields = {name: value for name, value in FULL.items() if name != key}
    assert read(fields).fields == fields


@pytest.mark.parametrize("tool_input", [*WRONG, "text"], ids=repr)
def test_a_tools_input_is_kept_as_whatever_was_sent(tool_input: Any) -> None:
    tool = read({**FULL, "tool_input": tool_input}).tool
    assert tool is not None
    assert tool.input == tool_input
    assert type(tool.input) is type(tool_input)


@pytest.mark.parametrize("name", [*WRONG, ""], ids=repr)
def test_an_input_that_names_no_event_is_refused(name: Any) -> None:
    with pytest.raises(PayloadError, match="hook_event_name"):
        read({**FULL, "hook_event_name": name})


def test_an_input_without_an_event_is_refused() -> None:
    with pytest.raises(PayloadError, match="hook_event_name"):
        read_event(b"{}")


@given(
    st.fixed_dictionaries(
        {"hook_event_name": st.text(min_size=1)},
        optional={
            key: st.text() | st.sampled_from(WRONG) for key in FULL if key != "hook_event_name"
        },
    ),
    st.dictionaries(st.text(), st.text() | st.sampled_from(WRONG), max_size=3),
)
def test_unknown_events_and_fields_are_kept_whole(
    known: dict[str, Any], others: dict[str, Any]
) -> None:
    fields = json.loads(json.dumps({**others, **known}))
    event = read(fields)
    assert event.fields == fields
    assert list(event.fields) == list(fields)
    assert event.name == fields["hook_event_name"]
