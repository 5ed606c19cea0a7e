"""What the hooks under measurement are given."""

import json

from bench.events import (
    DECIDED_EVENT,
    OBSERVED_EVENT,
    WATCHED,
    WRITING_EVENT,
    calls_of_tools,
    new_call,
)


def test_no_two_calls_are_taken_for_one() -> None:
    one, other = (json.loads(new_call(DECIDED_EVENT)) for _ in range(2))
    assert one["tool_use_id"] != other["tool_use_id"]
    assert one["session_id"] != other["session_id"]
    assert one["tool_input"] == other["tool_input"]


def test_the_operator_knows_a_session_by_its_beginning() -> None:
    event = json.loads(new_call(OBSERVED_EVENT, WATCHED))
    assert event["session_id"].startswith(WATCHED)
    assert "tool_use_id" not in event


def test_what_is_put_over_the_input_leaves_the_rest_of_it() -> None:
    recorded = json.loads(new_call(WRITING_EVENT))["tool_input"]
    event = json.loads(new_call(WRITING_EVENT, session="one", tool_input={"content": "more"}))
    assert event["session_id"] == "one"
    assert event["tool_input"] == recorded | {"content": "more"}


def test_no_rule_is_asked_to_decide_what_only_an_answer_can() -> None:
    calls = [json.loads(new_call(name)) for name in calls_of_tools()]
    assert len({call["tool_name"] for call in calls}) >= 8
    assert {call["hook_event_name"] for call in calls} == {"PreToolUse"}
    assert not {"AskUserQuestion", "ExitPlanMode"} & {call["tool_name"] for call in calls}
