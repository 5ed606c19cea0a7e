"""Envelopes are read strictly where it matters, and answers are the table of actions."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.decision import SILENCE, Reply
from crabhook.model.event import Event
from crabhook.model.jsontext import MAX_DEPTH
from crabhook.server.ndjson.bridge import (
    LONGEST_ID,
    EnvelopeError,
    no_opinion,
    quoted,
    read,
    result,
    written,
)
from tests.support.rows import every_row

PAYLOAD = {"hook_event_name": "Stop", "session_id": "s1", "odd": ["é", "\ud800", None, 1e3]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def line(**fields: Any) -> bytes:
    whole = {"request_id": "r", "ts": 1, "session_id": "s1", "hook_event_name": "Stop"}
    return json.dumps({**whole, "payload": PAYLOAD, **fields}).encode() + b"\n"


def test_the_payload_goes_on_whole() -> None:
    assert json.loads(read(line()).payload) == PAYLOAD


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_whatever_the_payload_holds_goes_on_whole(payload: dict[str, Any]) -> None:
    assert json.loads(read(line(payload=payload)).payload) == payload


@pytest.mark.parametrize("ts", [None, "soon", -1, 1e30, [], {}])
def test_the_time_of_a_request_decides_nothing(ts: Any) -> None:
    assert read(line(ts=ts)) == read(line())


def test_fields_of_other_versions_are_left_alone() -> None:
    assert read(line(v=1, kind="hook_event")) == read(line())


def test_copies_may_be_missing() -> None:
    bare = json.dumps({"request_id": "r", "payload": PAYLOAD}).encode()
    assert not read(bare).differs(Event("claude", "Stop", "s1"))


@pytest.mark.parametrize(
    "copies", [{"session_id": "s2"}, {"hook_event_name": 7}, {"session_id": 0}]
)
def test_a_copy_that_contradicts_is_told(copies: dict[str, Any]) -> None:
    told = read(line(**copies)).differs(Event("claude", "Stop", "s1"))
    assert str(next(iter(copies))) in told
    assert "the payload counts" in told


@every_row(
    "wrong",
    [b"", b"\n", b"{", b"[]", b"null", b'"text"', b"\xff\n", b"{}", b'{"request_id": "r"', b"NaN"],
)
def test_what_is_no_object_with_an_id_is_nobodys(wrong: bytes) -> None:
    with pytest.raises(EnvelopeError) as error:
        read(wrong)
    assert error.value.request_id is None


@pytest.mark.parametrize("wrong", [None, "", 7, True, [], {"a": 1}, "x" * (LONGEST_ID + 1)])
def test_an_id_is_a_text_of_bounded_length(wrong: Any) -> None:
    with pytest.raises(EnvelopeError) as error:
        read(line(request_id=wrong))
    assert error.value.request_id is None


@pytest.mark.parametrize("wrong", [None, "{}", [], 7, False])
def test_a_payload_that_is_no_object_is_refused_under_its_id(wrong: Any) -> None:
    with pytest.raises(EnvelopeError, match="payload") as error:
        read(line(payload=wrong))
    assert error.value.request_id == "r"


def test_depth_is_bounded() -> None:
    deep = b'{"request_id":"r","payload":' + b'{"a":' * MAX_DEPTH + b"1" + b"}" * (MAX_DEPTH + 1)
    with pytest.raises(EnvelopeError, match="deeper"):
        read(deep)


@given(st.binary(max_size=200))
def test_no_line_does_more_than_be_refused(data: bytes) -> None:
    try:
        read(data)
    except EnvelopeError as error:
        assert str(error)  # noqa: PT017 - most lines are refused, but a few may be read


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        (SILENCE, {"action": "passthrough"}),
        (Reply({"a": "\ud800"}), {"action": "json_output", "stdout_json": {"a": "\ud800"}}),
        (Reply({}), {"action": "json_output", "stdout_json": {}}),
        (Reply(None, "no\n", 2), {"action": "block_with_stderr", "stderr": "no\n"}),
        (Reply(None, "", 2), {"action": "block_with_stderr", "stderr": ""}),
        (Reply({"a": 1}, "no\n", 2), {"action": "block_with_stderr", "stderr": "no\n"}),
        (
            no_opinion("late"),
            {"action": "passthrough", "stderr": "crabhook: no opinion: late\n"},
        ),
        (
            Reply({"a": 1}, "by the way"),
            {"action": "json_output", "stdout_json": {"a": 1}, "stderr": "by the way"},
        ),
    ],
)
def test_every_reply_is_one_action(reply: Reply, action: dict[str, Any]) -> None:
    assert result(reply) == action
    answer = json.loads(written("r", reply, 5))
    assert answer == {"request_id": "r", "ts": 5, "payload": action}


@given(st.none() | st.text(), JSON, st.text())
def test_an_answer_is_one_line_of_ascii(request_id: Any, value: Any, stderr: str) -> None:
    answer = written(request_id, Reply({"a": value}, stderr), 1)
    assert answer.isascii()
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == 1
    assert json.loads(answer)["request_id"] == request_id


def test_what_is_quoted_is_short_and_cannot_move_a_terminal() -> None:
    assert quoted("\x1b[2J\u202e") == '"\\u001b[2J\\u202e"'
    assert len(quoted("x" * 10_000)) < 100
