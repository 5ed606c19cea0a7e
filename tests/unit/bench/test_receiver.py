"""A receiver of the bench counts the records that came, and sees what came twice or never."""

from __future__ import annotations

import re

import pytest

from bench.receiver import Arrivals

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("came", "records", "first", "last", "gaps", "doubles"),
    [
        ((b"<4> <5>", b"<6>"), 3, 4, 6, 0, 0),
        ((b"<4>", b"<6> <7>"), 3, 4, 7, 1, 0),
        ((b"<4> <5>", b"<4> <5> <6>"), 5, 4, 6, 0, 2),
        ((), 0, 0, 0, 0, 0),
    ],
)
def test_what_came_is_counted(  # noqa: PLR0917 - the counts
    came: tuple[bytes, ...], records: int, first: int, last: int, gaps: int, doubles: int
) -> None:
    arrivals = Arrivals(re.compile(rb"<(\d+)>"))
    for content in came:
        arrivals.append(content)
    assert [arrivals.records, arrivals.first, arrivals.last] == [records, first, last]
    assert [arrivals.gaps, arrivals.doubles] == [gaps, doubles]
    assert not arrivals
