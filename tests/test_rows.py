"""A table that one test reads holds each of its rows as a test of its own would."""

import pytest

from tests.support.rows import every_row


def test_each_row_is_tried_and_all_that_fail_are_named_with_their_reasons(tmp_path: object) -> None:
    tried: list[tuple[int, str, object]] = []

    @every_row("word", ["a", "b"])
    @every_row("number, most", [(1, 2), (3, 2), (4, 2)])
    def law(number: int, most: int, word: str, tmp_path: object) -> None:
        tried.append((number, word, tmp_path))
        assert number <= most, f"{number} is too large"

    with pytest.raises(
        AssertionError, match=r"^2 of 2 rows fail:\n\{'word': 'a'\}: 2 of 3"
    ) as told:
        law(tmp_path=tmp_path)
    assert tried == [(number, word, tmp_path) for word in "ab" for number in (1, 3, 4)]
    assert "{'number': 4, 'most': 2}: 4 is too large" in str(told.value)


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="no row for word"):
        every_row("word", [])
