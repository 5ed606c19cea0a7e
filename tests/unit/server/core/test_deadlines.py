"""A request waits as long as both its server and its hook wait, and its hook hears of the end."""

from math import inf, nan
from time import time

import pytest

from crabhook.remote.codec import FARTHEST
from crabhook.server.core.deadlines import LONGEST_WAIT, deadlines
from crabhook.store.record import iso


@pytest.mark.parametrize(
    ("wait", "theirs", "until", "gives_up"),
    [
        (60.0, 0.0, 160.0, 160.0),  # its hook does not say
        (60.0, 3600.0, 160.0, 3699.0),  # the server's is the shorter
        (3600.0, 60.0, 159.0, 159.0),  # the hook's is, and it hears of it a second before
        (3600.0, 2.0, 101.8, 101.8),  # or sooner, where it waits but a moment
    ],
)
def test_the_shorter_wait_counts(wait: float, theirs: float, until: float, gives_up: float) -> None:
    assert deadlines(100.0, wait, theirs) == pytest.approx((until, gives_up))


@pytest.mark.parametrize("theirs", [5e10, (2**64 - 1) / 1000, 1e300, inf, nan, -1.0, -inf])
def test_no_wait_that_a_hook_names_is_more_than_desks_and_the_record_can_tell(
    theirs: float,
) -> None:
    until = deadlines(100.0, 60.0, theirs)
    assert until.wait_until == 160.0
    assert 160.0 <= until.gives_up_at <= 100.0 + LONGEST_WAIT < FARTHEST
    assert iso(time() + until.gives_up_at)
