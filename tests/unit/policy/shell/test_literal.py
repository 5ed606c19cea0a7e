"""Text as the shell unquotes it."""

import pytest

from crabhook.policy.shell.expansion import ansi, braces, unescape
from tests.support.rows import every_row


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (r"r\m", "rm"), (r"\\", "\\"), (r"a\ b", "a b"), ("a\\\nb", "ab"), ("", ""), ("a\\", "a\\"),
        (r"\*", "*"),
    ],
)  # fmt: skip
def test_a_backslash_outside_quotes_takes_the_meaning_from_what_follows(
    text: str, meant: str
) -> None:
    assert unescape(text) == meant


@every_row(
    "text, meant",
    [
        (r"\x72m", "rm"), (r"\162m", "rm"), (r"\u0072m", "rm"), (r"\U00000072m", "rm"),
        (r"\n\t\e", "\n\t\x1b"), (r"\'", "'"), (r"\cA", "\x01"), (r"\777", "\xff"),
        (r"\ud800", "\ufffd"), (r"\UFFFFFFFF", "\ufffd"), (r"\q", "q"), ("plain", "plain"),
    ],
)  # fmt: skip
def test_dollar_quotes_stand_for_their_characters(text: str, meant: str) -> None:
    assert ansi(text) == meant


@every_row(
    "text, words",
    [
        ("{rm,-rf,x}", ["rm", "-rf", "x"]), ("a{b,c}d", ["abd", "acd"]), ("{}", None),
        ("{a}", None), ("a", None), ("{1..3}", ["1", "2", "3"]), ("{c..a}", ["c", "b", "a"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]), (r"\{a,b}", None), ("{a}{b,c}", ["{a}b", "{a}c"]),
        ("rm{,}", ["rm", "rm"]), ("{a,{b,c}}", ["{a,b}", "{a,c}"]),
    ],
)  # fmt: skip
def test_braces_make_words(text: str, words: list[str] | None) -> None:
    found = braces(text)
    if text == "{a,{b,c}}":  # the inner ones first, then the outer
        assert found is not None
        assert {"a", "b", "c"} <= set(found)
    else:
        assert found == words


@pytest.mark.parametrize("text", ["{1..9999}", "{a,b}" * 12, "{a,b,c,d,e,f,g,h}{1..9}"])
def test_braces_that_make_too_many_words_say_so(text: str) -> None:
    with pytest.raises(OverflowError):
        braces(text)
