"""A line that is too long to be read is judged all the same, in work that grows as the line."""

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
