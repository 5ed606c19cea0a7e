"""A request waits as long as both its server and its hook wait, and its hook hears of the end."""

import pytest

from crabhook.server.core.intake import deadlines


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
