"""Bytes into lines: nothing is lost, whatever the chunks are."""

from hypothesis import given
from hypothesis import strategies as st

from crabhook.acp.lines import LineCutter, Piece, WholeLine
from tests.support.examples import examples

BYTES = st.binary(max_size=200) | st.text("ab\n{}", max_size=200).map(str.encode)


def cut(chunks: list[bytes], longest: int) -> list[WholeLine | Piece]:
    cutter = LineCutter(longest)
    return [*(each for chunk in chunks for each in cutter.feed(chunk)), *cutter.close()]


@given(st.lists(BYTES, max_size=12), st.integers(1, 60))
@examples(400)
def test_what_comes_out_is_what_went_in(chunks: list[bytes], longest: int) -> None:
    every = cut(chunks, longest)
    assert b"".join(each.data for each in every) == b"".join(chunks)


@given(st.lists(BYTES, max_size=12), st.integers(1, 60))
@examples(400)
def test_a_line_is_whole_and_a_piece_belongs_to_a_line_that_ends(
    chunks: list[bytes], longest: int
) -> None:
    every = cut(chunks, longest)
    within = False
    for place, each in enumerate(every):
        if isinstance(each, Piece):
            within = not each.ends
            continue
        assert not within
        assert len(each.data) <= longest
        assert each.data.count(b"\n") == 1 or place == len(every) - 1
    assert not within


@given(st.lists(BYTES, max_size=12), st.integers(1, 60))
@examples(200)
def test_which_lines_there_are_does_not_depend_on_the_chunks(
    chunks: list[bytes], longest: int
) -> None:
    whole = b"".join(chunks)
    lines = [each.data for each in cut(chunks, longest) if isinstance(each, WholeLine)]
    at_once = [each.data for each in cut([whole], longest) if isinstance(each, WholeLine)]
    assert lines == at_once
