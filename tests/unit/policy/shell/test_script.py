"""The parts of a line, as values."""

from crabhook.policy.shell.script import ShellWord, SimpleCommand


def test_a_words_text_is_the_likeliest_of_its_values() -> None:
    assert ShellWord("$x", ("a", "b"), fixed=False).text == "a"


def test_equal_commands_are_one_in_a_set() -> None:
    one, two = (SimpleCommand((ShellWord("a", ("a",)),), source="a") for _ in range(2))
    assert {one, two} == {one}
