"""What was decided, and by whom."""

import pytest

from crabhook.model.decision import CRABHOOK, OPERATOR, Decision, Verdict, no_opinion


def test_no_opinion_is_nobodys_and_never_an_allow() -> None:
    decision = no_opinion("why")
    assert (decision.verdict, decision.reason, decision.by) == (Verdict.PASS, "why", CRABHOOK)


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_its_word_once_it_is_given(verdict: Verdict) -> None:
    assert verdict.done.isupper()
    assert len({one.done for one in Verdict}) == len(Verdict)


def test_a_decision_is_the_operators_unless_it_says_otherwise() -> None:
    assert Decision(Verdict.ALLOW).by == OPERATOR
