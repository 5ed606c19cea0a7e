"""Places in a text."""

import re
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from crabhook.secrets.context import SecretSpan, lowered, places, united
from crabhook.secrets.find import _FORMATS, _SHAPES, known_in
from tests.support.examples import examples, share
from tests.support.rows import every_row

_SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 9), st.sampled_from("abc")).map(
        lambda one: SecretSpan(one[0], one[0] + one[1], one[2])
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
def test_united_spans_cover_the_same_and_never_overlap(spans: list[SecretSpan]) -> None:
    whole = list(united(spans))
    covered = {place for start, stop, *_ in spans for place in range(start, stop)}
    assert {place for start, stop, *_ in whole for place in range(start, stop)} == covered
    assert all(one.stop <= two.start for one, two in pairwise(whole))


def test_united_spans_are_named_after_the_one_that_was_listed_first() -> None:
    assert list(united([SecretSpan(5, 9, "first"), SecretSpan(0, 6, "second")])) == [
        SecretSpan(0, 9, "first")
    ]


@every_row("form", share(range(len(_FORMATS)), 0))
def test_what_has_a_vendors_shape_is_found_whichever_of_its_two_patterns_is_asked(
    form: int,
) -> None:
    """The pattern without groups only spares the other one; it must leave none of its finds out."""
    kind, whose, secret = _FORMATS[form]
    random = Random(form)
    texts = st.from_regex(re.compile(whose + secret, re.ASCII), fullmatch=True)

    @examples(20, deadline=None, database=None)
    @given(texts)
    def holds(text: str) -> None:
        for around in (text, f"x {text} y", f"TOKEN={text}\n", f"{text}{text}", f"a{text}"):
            start = random.randrange(3)
            alone = [found.span() for found in _SHAPES.finditer(around, start)]
            assert [one[:2] for one in known_in(around, start)] == alone
        assert list(known_in(text)), kind

    holds()
