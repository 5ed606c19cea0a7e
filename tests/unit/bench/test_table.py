"""The look of a table."""

from bench.table import table


def test_words_stand_left_and_numbers_right() -> None:
    assert table(("what", "ms"), [("a hook", "9.5"), ("Python", "10.25")]) == (
        "| what   |    ms |\n| ------ | ----: |\n| a hook |   9.5 |\n| Python | 10.25 |\n"
    )
