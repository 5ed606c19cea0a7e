"""The verdicts, and that every goal is of processes that are run."""

import pytest

from bench.goals import GOALS, Goal, Verdict, verdict


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (1.02, Verdict.STRETCH),
        (1.03, Verdict.MET),
        (1.15, Verdict.MET),
        (1.1501, Verdict.MISSED),
    ],
)
def test_a_goal_is_met_at_its_bar_and_not_beyond(ratio: float, expected: Verdict) -> None:
    assert verdict(Goal("hook", "nothing", 1.15, 1.02), ratio) is expected


def test_to_stretch_is_more_than_to_meet() -> None:
    assert all(goal.stretch < goal.bar for goal in GOALS)
