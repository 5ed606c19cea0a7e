"""What rules would have done, in words."""

from datetime import UTC, datetime, timedelta

from crabhook.policy.propose import Offer, Offering, Trial
from crabhook.ui.commands.rules import covered, denials, ending, let_through, tried
from tests.support.offering import offer, offering
from tests.unit.policy.law import bash


def test_it_is_said_on_what_rules_were_tried() -> None:
    assert "no record" in tried(Offering())
    assert tried(offering(offer(), tried_on=1)) == (
        "tried on the last 1 call of this kind on record"
    )
    assert "last 412 calls" in tried(offering(offer(), tried_on=412))


def test_denials_are_told_each_once_with_how_often() -> None:
    one = offer(covered=7, denied=("make a", "make b", "make a"))
    assert covered(one) == "covers 7"
    assert let_through(one) == "would have let through 3 calls that were DENIED"
    assert denials(one) == ["make a  (2 times)", "make b"]
    single = Offer(one.proposal, Trial(1, (bash("make a"),)))
    assert let_through(single) == "would have let through 1 call that was DENIED"
    assert let_through(offer()) == ""


def test_a_rule_gets_another_end_from_now_on() -> None:
    rule = offer().proposal.rule
    later = ending(rule, timedelta(days=2)).expires
    assert later is not None
    left = later - datetime.now(UTC)
    assert timedelta(days=2) - timedelta(minutes=1) < left <= timedelta(days=2)
    assert ending(rule, None).expires is None
    assert ending(rule, None).texts == rule.texts
