"""What goes into the supervisor and what comes out, whatever an agent sends."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.supervisor.contract import (
    HookInputError,
    Occasion,
    Review,
    ReviewResult,
    answer,
    occasion_of,
    read,
)

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["hook_event_name", "session_id", "tool_name", "tool_input", "last_assistant_message", "cwd"]
)
NAMES = st.sampled_from(["Stop", "SubagentStop", "PreToolUse", "AskUserQuestion", ""])
FINDINGS = st.builds(ReviewResult, st.none() | st.booleans(), st.text(max_size=9))


def question(**more: Any) -> bytes:
    called = {"hook_event_name": "PreToolUse", "tool_name": "AskUserQuestion"}
    return json.dumps(called | more).encode()


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_is_sent_is_read_or_refused_in_words(payload: bytes) -> None:
    try:
        asked = read(payload)
    except HookInputError as error:
        assert str(error).startswith("failed to parse hook input: ")  # noqa: PT017 - either way
    else:
        assert isinstance(json.loads(asked.payload), dict)


@given(st.dictionaries(KEYS | st.text(max_size=5), NAMES | JSON), FINDINGS)
def test_every_answer_is_json_of_the_contract(
    fields: dict[str, Any], finding: ReviewResult
) -> None:
    try:
        asked = read(json.dumps(fields).encode())
    except HookInputError:
        return
    if occasion_of(asked) is None:
        return
    told = json.loads(json.dumps(answer(occasion_of(asked), finding)))
    if occasion_of(asked) is Occasion.STOP:
        assert told.pop("reason")
        assert told == ({"decision": "block"} if finding.allow is False else {})
    elif finding.allow is None:
        assert told == {}
    else:
        specific = told.pop("hookSpecificOutput")
        assert told == {}
        assert specific.pop("permissionDecisionReason")
        assert specific == {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow" if finding.allow else "deny",
        }


@pytest.mark.parametrize(
    "payload", [b"{}", b'{"hook_event_name": null}', b'{"hook_event_name":""}']
)
def test_without_a_name_it_is_a_stop_and_is_passed_on_as_one(payload: bytes) -> None:
    asked = read(payload)
    assert (asked.name, occasion_of(asked)) == ("Stop", Occasion.STOP)
    assert json.loads(asked.payload) == {"hook_event_name": "Stop"}


def test_a_named_event_is_passed_on_byte_for_byte() -> None:
    payload = b'{ "hook_event_name":"Stop",  "unheard_of": 1.50 }'
    assert read(payload).payload == payload


def test_naming_an_event_drops_nothing_else() -> None:
    fields = {"session_id": "s", "unheard_of": [1, {"a": None}], "last_assistant_message": "\ud800"}
    named = json.loads(read(json.dumps(fields).encode()).payload)
    assert named == fields | {"hook_event_name": "Stop"}


@pytest.mark.parametrize(
    ("fields", "occasion"),
    [
        ({"hook_event_name": "Stop"}, Occasion.STOP),
        ({"hook_event_name": "SubagentStop"}, Occasion.STOP),
        ({"hook_event_name": "PreToolUse", "tool_name": "AskUserQuestion"}, Occasion.QUESTION),
        ({"hook_event_name": "PreToolUse", "tool_name": "Bash"}, None),
        ({"hook_event_name": "PreToolUse"}, None),
        ({"hook_event_name": "PermissionRequest", "tool_name": "AskUserQuestion"}, None),
        ({"hook_event_name": "stop"}, None),
    ],
)
def test_only_stops_and_questions_are_reviewed(
    fields: dict[str, Any], occasion: Occasion | None
) -> None:
    assert occasion_of(read(json.dumps(fields).encode())) is occasion


@pytest.mark.parametrize("given_input", [None, 5, [], {}, {"questions": "what?"}])
def test_questions_that_are_no_list_are_none(given_input: object) -> None:
    review = Review(read(question(tool_input=given_input)), Occasion.QUESTION, "s", 1, 20)
    assert json.loads(review.as_json())["questions"] == []


def test_what_the_reviewer_says_in_the_agents_words_goes_beside_the_verdict() -> None:
    more = {"hookSpecificOutput": {"updatedInput": {"a": 1}}, "systemMessage": "hi"}
    told = answer(Occasion.QUESTION, ReviewResult(allow=True, feedback="yes", output=more))
    assert told == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "yes",
            "updatedInput": {"a": 1},
        },
        "systemMessage": "hi",
    }
    halted = answer(Occasion.STOP, ReviewResult(allow=True, output={"continue": False}))
    assert halted == {"reason": "The supervisor lets it stop.", "continue": False}
