from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.text.compare import Side, compared, counted, line_count

LINES = st.lists(st.sampled_from(["a", "b", "", " a"]), max_size=12)


@given(LINES, LINES)
def test_both_texts_can_be_put_together_again_from_what_is_shown(
    old: list[str], new: list[str]
) -> None:
    changes = list(compared(old, new))
    assert [line for side, line in changes if side is not Side.ADDED] == old
    assert [line for side, line in changes if side is not Side.REMOVED] == new


def test_a_line_that_only_moves_is_neither_gone_nor_come() -> None:
    assert counted("a\nb\n", "b\na\n") == (0, 0)
    assert counted("a\nb", "a\nc\nd") == (2, 1)
    assert [line_count(text) for text in ("", "a", "a\n", "a\n\n")] == [0, 1, 1, 2]
