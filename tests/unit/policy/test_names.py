"""Lists of names, written as text."""

from crabhook.policy.names import names


def test_blanks_and_line_ends_part_names() -> None:
    assert names("a b\n  c\n") == {"a", "b", "c"}
