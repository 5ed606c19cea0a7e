"""What the text of a line alone says against it."""

import pytest

from crabhook.policy.shell import checks


@pytest.mark.parametrize(
    "letter", "\0\a\r\x1b\x7f\x85\xa0\xad\u200b\u200e\u202e\u2028\u3000\ufeff\u3164"
)
def test_a_character_that_hides_is_suspicious(letter: str) -> None:
    assert checks.suspicions(f"ls {letter}") != []


@pytest.mark.parametrize("text", ["ls", "a\tb\nc", "é ✓ 日本", "a \\\n b", "a\\\n b"])
def test_plain_text_in_any_language_is_not(text: str) -> None:
    assert checks.suspicions(text) == []


@pytest.mark.parametrize("text", ["a\\\nb", "a \\\\\nb"])
def test_a_line_end_that_may_join_words_is_suspicious(text: str) -> None:
    assert checks.suspicions(text) != []


def test_words_are_joined_as_the_shell_joins_them() -> None:
    assert checks.join_words("r\\\nm x \\\n y") == "rm x \\\n y"


@pytest.mark.parametrize("text", ["`a`", "$(a)", "${a}", "$a", "$1", "\\\\$a", "$[a]"])
def test_an_expansion_in_plain_text_is_seen(text: str) -> None:
    assert checks.unread(text)


@pytest.mark.parametrize("text", ["\\$a", "\\`a", "$", "a$", "$ a", "100%"])
def test_a_dollar_that_expands_nothing_is_left_alone(text: str) -> None:
    assert not checks.unread(text)


@pytest.mark.parametrize(
    "text", ["[ -f a ]", "[ a = 'b c' ]", '[ "$a" != b ]', "[[ a < b ]]", "[[ -f a && -d b ]]"]
)
def test_an_ordinary_test_is_no_trouble(text: str) -> None:
    assert checks.test_trouble(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "[a = b ]",
        "[| a = b ]",
        "[ a < b ]",
        "[ a > b ]",
        "[ a; b ]",
        "[ a ]b",
        "[[ a\nb ]]",
        "[<<< a ]",
    ],
)
def test_a_test_that_a_shell_reads_as_something_else_is(text: str) -> None:
    assert checks.test_trouble(text) != ""


def test_a_text_is_cut_at_everything_that_could_end_a_command() -> None:
    assert checks.pieces("a; b | c && $(d) `e`\nf > g") == ["a", "b", "c", "d", "e", "f", "g"]


@pytest.mark.parametrize(
    ("text", "much"),
    [("a" * 8192, False), ("a" * 8193, True), ("é" * 5000, True), ("`" * 41, True)],
)
def test_what_is_too_much_is_said(text: str, much: bool) -> None:
    assert bool(checks.too_much(text)) is much
