from hypothesis import given
from hypothesis import strategies as st

from crabhook.bounded import Bounded
from tests.support.examples import examples


@examples(100)
@given(st.lists(st.integers(0, 9)), st.integers(1, 6))
def test_the_keys_set_last_are_kept_and_never_more_than_the_bound(
    keys: list[int], most: int
) -> None:
    kept: Bounded[int, int] = Bounded(most)
    for turn, key in enumerate(keys):
        kept[key] = turn
        assert len(kept) <= most
    newest = list(dict.fromkeys(reversed(keys)))[:most]
    assert list(reversed(kept)) == newest


def test_reading_and_setting_again_keeps_what_is_used() -> None:
    kept: Bounded[str, int] = Bounded(2)
    kept["a"], kept["b"] = 1, 2
    assert kept.get("a") == 1  # reading alone changes nothing
    kept["c"] = 3
    assert list(kept) == ["b", "c"]
    kept["b"] = kept["b"]
    kept["d"] = 4
    assert list(kept) == ["b", "d"]


def test_every_way_to_set_an_item_is_bounded() -> None:
    kept: Bounded[int, int] = Bounded(3)
    kept.update((number, 0) for number in range(10))
    kept.setdefault(10, 0)
    assert list(kept) == [8, 9, 10]
