"""What the hooks under measurement are given."""

import json

from bench.events import DECIDED_EVENT, OBSERVED_EVENT, WATCHED, new_call


def test_no_two_calls_are_taken_for_one() -> None:
    one, other = (json.loads(new_call(DECIDED_EVENT)) for _ in range(2))
    assert one["tool_use_id"] != other["tool_use_id"]
    assert one["session_id"] != other["session_id"]
    assert one["tool_input"] == other["tool_input"]


def test_the_operator_knows_a_session_by_its_beginning() -> None:
    event = json.loads(new_call(OBSERVED_EVENT, WATCHED))
    assert event["session_id"].startswith(WATCHED)
    assert "tool_use_id" not in event
