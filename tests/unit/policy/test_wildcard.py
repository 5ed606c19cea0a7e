"""Wildcards, held against an oracle."""

import re

from hypothesis import given
from hypothesis import strategies as st

from crabhook.policy.command_pattern import parse
from tests.support.rows import every_row


@every_row(
    "pattern, text, fits",
    [
        ("a", "a", True), ("a", "ab", False), ("a*", "abc", True), ("*c", "abc", True), ("a*c", "ac", True),
        ("a*c", "a c", True), ("a*b*c", "axbyc", True), ("a*b*c", "acb", False), ("aa*aa", "aaa", False),
        ("*", "", True), ("**", "x", True), (r"a\*", "a*", True), (r"a\*", "ab", False), ("", "", True),
    ],
)  # fmt: skip
def test_a_star_stands_for_anything(pattern: str, text: str, fits: bool) -> None:
    assert parse(pattern).matches(text) is fits


LETTERS = st.text("ab *", max_size=8)


@given(LETTERS, st.text("ab ", max_size=12))
def test_it_matches_as_the_regular_expression_would(pattern: str, text: str) -> None:
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert parse(pattern).matches(text) is bool(re.fullmatch(expression, text, re.DOTALL))


def test_a_hostile_text_and_pattern_take_no_time_worth_naming() -> None:
    assert not parse("*a" * 60 + "b").matches("a" * 60_000)
