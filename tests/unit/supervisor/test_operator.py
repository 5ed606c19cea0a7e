"""What the server's reply is to the supervisor."""

import json
from typing import Any

import pytest

from crabhook.hook.wire import WireReply
from crabhook.model.actor import Ended
from crabhook.model.decision import Decision, Verdict, no_opinion
from crabhook.platforms import PLATFORMS
from crabhook.supervisor.contract import (
    Deadline,
    Occasion,
    Review,
    ReviewerError,
    answer,
    occasion_of,
    read,
)
from crabhook.supervisor.reviewers import finding, judged_by_operator

INPUT = {"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}]}
STOP = {"hook_event_name": "Stop", "session_id": "s"}
QUESTION = {"hook_event_name": "PreToolUse", "tool_name": "AskUserQuestion", "tool_input": INPUT}
ANSWERED = INPUT | {"answers": {"Which?": "a"}}


def told(event: dict[str, Any], decision: Decision) -> dict[str, Any]:
    """What the agent is told when the server has written this decision."""
    payload = json.dumps(event).encode()
    asked = read(payload)
    assert occasion_of(asked) is not None
    written = PLATFORMS["claude"].write(PLATFORMS["claude"].read(payload), decision)
    reply = WireReply(written.stdout, written.stderr.encode(), written.exit_code)
    found = finding(Review(asked, occasion_of(asked), "s", 1, 20), reply)
    return answer(occasion_of(asked), found)


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (
            Decision(Verdict.KEEP_GOING, reason="test it"),
            {"decision": "block", "reason": "test it"},
        ),
        (Decision(Verdict.ALLOW), {"reason": "The supervisor lets it stop."}),
        (Decision(Verdict.PASS), {"reason": "The supervisor lets it stop."}),
        (
            Decision(Verdict.ALLOW, halt="enough", user_message="bye"),
            {
                "reason": "The supervisor lets it stop.",
                "continue": False,
                "stopReason": "enough",
                "systemMessage": "bye",
            },
        ),
    ],
    ids=lambda one: str(one.verdict) if isinstance(one, Decision) else "",
)
def test_a_stop(decision: Decision, expected: dict[str, Any]) -> None:
    assert told(STOP, decision) == expected


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (
            Decision(Verdict.ALLOW),
            {"allow": "The supervisor lets the question through."},
        ),
        (Decision(Verdict.DENY, reason="choose"), {"deny": "choose"}),
        (
            Decision(Verdict.ALLOW, updated_input=ANSWERED),
            {"allow": "The supervisor lets the question through.", "updatedInput": ANSWERED},
        ),
        (Decision(Verdict.ASK), {"ask": None}),
        (Decision(Verdict.DEFER), {"defer": None}),
    ],
    ids=["allow", "deny", "answered", "ask", "defer"],
)
def test_a_question(decision: Decision, expected: dict[str, Any]) -> None:
    specific = dict(told(QUESTION, decision)["hookSpecificOutput"])
    assert specific.pop("hookEventName") == "PreToolUse"
    said = specific.pop("permissionDecision")
    assert {said: specific.pop("permissionDecisionReason", None), **specific} == expected


def test_an_operator_who_passes_a_question_has_no_opinion() -> None:
    assert told(QUESTION, Decision(Verdict.PASS)) == {}


@pytest.mark.parametrize("event", [STOP, QUESTION])
def test_nobody_at_the_desk_is_a_reviewer_that_fails(event: dict[str, Any]) -> None:
    with pytest.raises(ReviewerError, match="the operator is away"):
        told(event, no_opinion(Ended.AWAY).decision)


def test_an_option_that_is_wrong_is_a_reviewer_that_fails() -> None:
    review = Review(read(json.dumps(STOP).encode()), Occasion.STOP, "s", 1, 20)
    with pytest.raises(ReviewerError, match="wrong option"):
        judged_by_operator(["--server="], review, Deadline(5))
