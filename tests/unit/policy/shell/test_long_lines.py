"""A long line is judged in bounded work: one that is read, and one that is too long for that."""

import sys
from types import FrameType

import pytest

from tests.unit.policy.law import bash, denying, verdict

LETTERS = 250_000
"""About what is cut into commands of a line that is too long: some twelve minutes before."""
LAW = denying("Bash(git push *)", "Read(~/.ssh/**)")


@pytest.mark.timeout(100)
@pytest.mark.parametrize(
    ("before", "piece", "behind"),
    [
        ("sh -c '", "-", "@"),
    ],
)
def test_a_line_of_one_piece_without_end_is_judged(before: str, piece: str, behind: str) -> None:
    line = before + piece * (LETTERS // len(piece)) + behind
    assert verdict(LAW, bash(line)) != "allow"


def calls_to_judge(line: str) -> int:
    """How many functions are called to judge a line."""
    calls = 0

    def count(_frame: FrameType, event: str, _value: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        verdict(LAW, bash(line))
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("commands", ["a; ", "cd a; b; ", "mv a b; a; ", "git clone u d; cat f; "])
def test_twice_as_many_commands_are_at_most_four_times_the_work(commands: str) -> None:
    assert calls_to_judge(commands * 120) < 5 * calls_to_judge(commands * 60)
