"""What is remembered of decided calls is small, bounded, and gone when it is of no use."""

import pytest

from crabhook.broker.call_outcomes import FOLLOWED_FOR, CallOutcome, FollowedCalls
from crabhook.broker.recent import KEPT
from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import EndScope
from crabhook.platforms import PLATFORMS
from tests.support.playbook import ALLOW, asking, bash, done

ASK = Decision(Verdict.ASK)


def followed(*tickets: str, decision: Decision = ALLOW, now: float = 0.0) -> FollowedCalls:
    calls = FollowedCalls(PLATFORMS)
    for ticket in tickets:
        calls.follow(bash(ticket, "ls", ticket).event, decision, now, card=1)
    return calls


def test_a_result_is_told_once() -> None:
    calls = followed("t1")
    found = calls.ran(done("z", "ls", "t1").event)
    assert found is not None
    assert found[1] is CallOutcome.AS_ALLOWED
    assert calls.ran(done("z", "ls", "t1").event) is None


def test_no_input_is_kept() -> None:
    calls = followed("t1")
    ((_, kept),) = calls._calls.of_session(bash("t1", "ls").event)
    assert kept.event.tool is not None
    assert (kept.event.tool.input, kept.event.fields) == (None, {})


@pytest.mark.slow
def test_only_so_many_are_kept_and_for_a_day() -> None:
    calls = followed(*(f"t{number}" for number in range(KEPT + 5)))
    assert len(calls._calls) == KEPT
    calls.follow(bash("x", "ls", "x").event, ALLOW, FOLLOWED_FOR + 1)
    assert len(calls._calls) == 1


def test_a_turns_end_forgets_what_was_left_and_a_sessions_end_all() -> None:
    calls = followed("t1", decision=ASK)
    calls.follow(bash("t2", "ls", "t2").event, ALLOW, 0.0)
    (left,) = calls.conclude(asking("z", "Stop").event, EndScope.AGENT)
    assert left[1] is CallOutcome.NOT_RUN
    assert len(calls._calls) == 1
    assert calls.conclude(asking("z", "SessionEnd").event, EndScope.SESSION) == []
    assert len(calls._calls) == 0


def test_a_call_decided_again_counts_as_it_was_decided_last() -> None:
    calls = followed("t1", decision=ASK)
    calls.follow(bash("t1", "ls", "t1").event, ALLOW, 1.0)
    found = calls.ran(done("z", "rm", "t1").event)
    assert found is not None
    assert found[1] is CallOutcome.OTHER


def test_a_calls_rivals_are_found_among_those_of_its_id_alone() -> None:
    calls = followed(*(f"t{number}" for number in range(50)))
    assert len(list(calls._calls.of_use(bash("x", "ls", "t7").event, "t7"))) == 1
    assert [one.use_id for one in calls.rivals(bash("x", "other", "t7").event)] == ["t7"]
    assert calls.rivals(bash("x", "other", "unheard of").event) == []
    calls.conclude(asking("z", "SessionEnd").event, EndScope.SESSION)
    assert list(calls._calls.of_use(bash("x", "ls", "t7").event, "t7")) == []
    assert calls._calls._uses == {}
