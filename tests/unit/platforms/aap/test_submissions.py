"""What AAP agents send is read strictly, and a call keeps its name, its run and its input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError, PayloadError
from crabhook.platforms import PLATFORMS
from crabhook.platforms.aap import submissions
from tests.support.rows import every_row

AAP = PLATFORMS["aap"]
ASKED: dict[str, Any] = {"tool": "refund", "arguments": {"amount": 1}, "timeout": "10m"}
ABOUT = {"id": "i", "key": "k", "created_at": "c", "deadline_at": "d"}
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
_NO_INFINITY = _JSON.filter(lambda value: "Infinity" not in json.dumps(value))


@given(arguments=st.dictionaries(st.text(), _NO_INFINITY), reasoning=st.text(min_size=1))
def test_a_request_comes_back_as_it_was_sent(arguments: Any, reasoning: str) -> None:
    asked = {**ASKED, "arguments": arguments, "context": arguments}
    asked |= {"agent_reasoning": reasoning} if reasoning.strip() else {}
    read = submissions.read(json.dumps(asked).encode(), submissions.REQUEST)
    event = submissions.event_asked(read, ABOUT)
    assert event.tool is not None
    assert event.tool.input == arguments
    back = submissions.request_in(event.fields)
    assert json.dumps(back, sort_keys=True) == json.dumps(asked, sort_keys=True)


SECONDS = {"10m": 600, "24h": 86_400, "1h30m": 5_400, "45s": 45, "999999h": submissions.LONGEST}


def test_a_timeout_is_a_duration() -> None:
    assert {text: submissions.seconds(text) for text in SECONDS} == SECONDS
    for text in ("", "0s", "soon", "10", "-1m", "1d", "1m1h", "٣m", "1.5h", "10m "):
        with pytest.raises(PayloadError):
            submissions.seconds(text)


SESSIONS: dict[str, Any] = {
    "thread": {"resume": {"framework": "langgraph", "thread_id": "thread"}, "call_id": "x:y"},
    "talk": {"resume": {"conversation_id": "talk"}},
    "run": {"resume": {"run_id": "run"}},
    "begun": {"call_id": "begun:agent:call", "framework": "openai-agents"},
    "openai-agents": {"call_id": "-:agent:call", "framework": "openai-agents"},
    "": {"resume": {"thread_id": 7}, "call_id": ["x"]},
    "x" * 200: {"call_id": "x" * 9000 + ":"},
}


@every_row("session", SESSIONS)
def test_the_session_is_the_agents_run(session: str) -> None:
    assert submissions.session_of(SESSIONS[session]) == session


@pytest.mark.parametrize(
    "body",
    [
        b'{"status": "succeeded", "status": "failed"}',
        b'{"status": "succeeded", "note": ""}',
        b'{"status": "perhaps"}',
        b'{"status": "failed", "note": "' + b"x" * 10_001 + b'"}',
        b'{"note": "x"}',
        b"[]",
        b"\xff",
    ],
)
def test_an_outcome_that_says_two_things_or_none_is_refused(body: bytes) -> None:
    with pytest.raises(PayloadError):
        submissions.read(body, submissions.OUTCOME)


def test_a_request_takes_no_edit_and_no_hand_back() -> None:
    event = submissions.event_asked(ASKED, ABOUT)
    edited = Decision(Verdict.ALLOW, updated_input={"amount": 2})
    for decision in (edited, Decision(Verdict.ASK), Decision(Verdict.DENY)):
        with pytest.raises(DecisionError):
            AAP.check(event, decision)
    denied = AAP.write(event, Decision(Verdict.DENY, reason="no")).output or {}
    assert (denied["status"], denied["note"]) == ("denied", "no")
    assert (AAP.write(event, Decision(Verdict.PASS)).output or {})["status"] == "cancelled"
