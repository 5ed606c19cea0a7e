"""What was decided, and by whom."""

import pytest

from crabhook.model.actor import AnsweredAtAgent, Ended, EndReason, Nobody
from crabhook.model.decision import Verdict, no_opinion
from tests.support.rows import every_row


@pytest.mark.parametrize("why", [*Ended, AnsweredAtAgent("it failed")])
def test_no_opinion_is_nobodys_and_never_an_allow(why: EndReason) -> None:
    left = no_opinion(why)
    assert (left.decision.verdict, left.by) == (Verdict.PASS, Nobody(why))


@every_row("verdict", Verdict)
def test_every_verdict_has_its_word_once_it_is_given(verdict: Verdict) -> None:
    assert verdict.done.isupper()
    assert len({one.done for one in Verdict}) == len(Verdict)
