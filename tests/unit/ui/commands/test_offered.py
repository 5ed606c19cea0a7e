"""What rules would have done, in words."""

from datetime import UTC, datetime, timedelta

from crabhook.desk.updates import Offering
from crabhook.ui.commands.decide import covered, end_of, tried, undoing, undone
from tests.support.offering import offer, offering


def test_it_is_said_on_what_rules_were_tried() -> None:
    assert "no record" in tried(Offering())
    assert tried(offering(offer(), tried_on=1)) == (
        "tried on the last 1 call of this kind on record"
    )
    assert "last 412 calls" in tried(offering(offer(), tried_on=412))


def test_denials_are_told_each_once_with_how_often() -> None:
    one = offer(covered=7, denied=("make a", "make b", "make a"))
    assert covered(one) == "covers 7"
    assert undoing(one) == "would have let through 3 calls that were DENIED"
    assert undone(one, 10) == (["make a  (2 times)", "make b"], "")
    assert undone(one, 1) == (["make a  (2 times)"], "… and 1 more")
    single = offer(denied=("make a",))
    assert undoing(single) == "would have let through 1 call that was DENIED"
    assert undoing(offer()) == ""


def test_a_rule_gets_another_end_from_now_on() -> None:
    later = end_of(timedelta(days=2))
    assert later is not None
    left = later - datetime.now(UTC)
    assert timedelta(days=2) - timedelta(minutes=1) < left <= timedelta(days=2)
    assert end_of(None) is None
