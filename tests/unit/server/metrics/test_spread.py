"""Times in buckets."""

from hypothesis import given
from hypothesis import strategies as st

from crabhook.server.spread import Spread

BOUNDS = (0.01, 1, 60)


@given(st.lists(st.floats(0, 1e6)))
def test_each_bucket_has_what_was_no_longer_than_its_bound(times: list[float]) -> None:
    spread = Spread(BOUNDS)
    for one in times:
        spread.add(one)
    expected = [(str(float(top)), sum(one <= top for one in times)) for top in BOUNDS]
    assert spread.buckets() == [*expected, ("+Inf", len(times))]
    assert spread.total == sum(times)
