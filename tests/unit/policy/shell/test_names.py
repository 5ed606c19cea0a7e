"""Lists of names, written as text."""

from crabhook.policy.shell.programs import names


def test_blanks_and_line_ends_part_names() -> None:
    assert names("a b\n  c\n") == {"a", "b", "c"}
