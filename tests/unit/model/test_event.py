"""What an agent says is happening."""

import pytest

from crabhook.model.event import Event, ToolCall
from crabhook.model.jsontext import CUT, START, Value, compact

EVENT = Event(
    "claude",
    "PreToolUse",
    session="s",
    tool=ToolCall("Bash", {"command": "ls"}, "t1"),
    fields={"text": "words", "number": 1},
)


def test_a_field_is_text_or_nothing() -> None:
    assert (EVENT.text("text"), EVENT.text("number"), EVENT.text("absent")) == ("words", "", "")


def test_a_slim_event_has_everything_but_the_payload() -> None:
    slim = EVENT.slim()
    assert (slim.fields, slim.session, slim.name) == ({}, "s", "PreToolUse")
    assert slim.tool == ToolCall("Bash", None, "t1")
    assert EVENT.slim("x").tool == ToolCall("Bash", "x", "t1")
    assert Event("claude", "Stop").slim("x").tool is None
    assert EVENT.fields


@pytest.mark.parametrize("letters", [0, 100, START - 40, START, 100_000])
def test_the_size_of_its_input_tells_that_an_event_is_short(letters: int) -> None:
    given: Value = {"command": "e" * letters}
    fields: dict[str, Value] = {"session_id": "s", "tool_input": given}
    event, size = (
        Event("claude", "x", tool=ToolCall("Bash", given), fields=fields),
        len(compact(fields)),
    )
    assert event.brief(size) == event.brief() == event.brief(START + 1)
    assert (event.brief(size) is event) == (letters < START)
    if letters >= START:
        assert event.brief(size).given == {"command": "e" * (START - 8) + CUT}


def test_an_event_does_not_show_its_payload_in_passing() -> None:
    assert "words" not in repr(EVENT)


def test_a_comment_is_no_part_of_what_a_call_does() -> None:
    comments = frozenset({"description"})
    asked = ToolCall("Bash", {"command": "ls", "description": "why"}, comments=comments)
    assert asked.bare == {"command": "ls"}
    assert asked.fingerprint == ToolCall("Bash", {"command": "ls"}).fingerprint
    assert asked.fingerprint != ToolCall("Bash", asked.input).fingerprint
    assert ToolCall("Bash", "ls", comments=comments).bare == "ls"
