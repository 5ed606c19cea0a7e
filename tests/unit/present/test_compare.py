from hypothesis import example, given
from hypothesis import strategies as st

from crabhook.present.compare import Side, compared, counted, line_count

LINES = st.lists(st.sampled_from(["a", "b", "", " a"]), max_size=12)


@given(LINES, LINES)
def test_both_texts_can_be_put_together_again_from_what_is_shown(
    old: list[str], new: list[str]
) -> None:
    changes = list(compared(old, new))
    assert [line for side, line in changes if side is not Side.ADDED] == old
    assert [line for side, line in changes if side is not Side.REMOVED] == new


@given(LINES, LINES)
@example([*"aab", "", *"aaab", "", "a"], [*"aaa", ""])  # what both end with is kept first
def test_the_count_of_lines_is_that_of_the_diff(old: list[str], new: list[str]) -> None:
    texts = ["\n".join(lines) + "\n" if lines else "" for lines in (old, new)]
    shown = [side for side, _ in compared(old, new)]
    assert counted(*texts) == (shown.count(Side.ADDED), shown.count(Side.REMOVED))


def test_a_line_that_moves_comes_and_goes_as_in_the_diff() -> None:
    assert counted("a\nb\n", "b\na\n") == (1, 1)
    assert counted("a\nb", "a\nc\nd") == (2, 1)
    assert [line_count(text) for text in ("", "a", "a\n", "a\n\n")] == [0, 1, 1, 2]
