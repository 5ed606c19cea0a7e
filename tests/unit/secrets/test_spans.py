"""Places in a text."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from crabhook.secrets.context import Span, lowered, places, united

_SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 9), st.sampled_from("abc")).map(
        lambda one: Span(one[0], one[0] + one[1], one[2])
    ),
    min_size=1,
)


@given(st.text())
def test_lower_case_moves_no_letter(text: str) -> None:
    assert len(lowered(text)) == len(text)
    assert lowered("İTOKEN=") == "İtoken="


def test_places_that_overlap_are_all_found() -> None:
    assert list(places("aaa", "aa")) == [0, 1]
    assert list(places("abc", "x")) == []


@given(_SPANS)
def test_united_spans_cover_the_same_and_never_overlap(spans: list[Span]) -> None:
    whole = list(united(spans))
    covered = {place for start, stop, *_ in spans for place in range(start, stop)}
    assert {place for start, stop, *_ in whole for place in range(start, stop)} == covered
    assert all(one.stop <= two.start for one, two in pairwise(whole))


def test_united_spans_are_named_after_the_one_that_was_listed_first() -> None:
    assert list(united([Span(5, 9, "first"), Span(0, 6, "second")])) == [Span(0, 9, "first")]
